#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderSystem

    /// The shortest program that asks an HTTP server with libcurl: one handle, used again and again by one thread.
    ///
    /// `@unchecked Sendable`: the benchmark uses it from one task at a time.
    final class BareCurl: @unchecked Sendable {
        private let library: SystemLibrary
        private let handle: UnsafeMutableRawPointer
        private let set: UnsafeMutableRawPointer
        private let perform: @convention(c) (UnsafeMutableRawPointer) -> Int32
        private let end: @convention(c) (UnsafeMutableRawPointer) -> Void
        private var received: [UInt8] = []

        init() throws {
            library = try SystemLibrary("libcurl", files: ["libcurl.so.4", "libcurl-gnutls.so.4"], package: "libcurl4")
            set = try library.address(of: "curl_easy_setopt")
            perform = try library.function("curl_easy_perform")
            end = try library.function("curl_easy_cleanup")
            let make: @convention(c) () -> UnsafeMutableRawPointer? = try library.function("curl_easy_init")
            guard let handle = make() else { throw SystemLibrary.Failure("libcurl has no memory left") }
            self.handle = handle
            _ = larder_curl_set_long(set, handle, .noSignal, 1)
            _ = larder_curl_set_pointer(set, handle, .writeData, Unmanaged.passUnretained(self).toOpaque())
            _ = larder_curl_set_data_function(set, handle, .writeFunction) { bytes, size, count, context in
                guard let context else { return 0 }
                Unmanaged<BareCurl>.fromOpaque(context).takeUnretainedValue().received +=
                    UnsafeRawBufferPointer(start: bytes, count: size * count)
                return size * count
            }
        }

        deinit { end(handle) }

        /// Returns the body of the answer to a GET request.
        func get(_ url: String) throws -> [UInt8] {
            received.removeAll(keepingCapacity: true)
            url.withCString { _ = larder_curl_set_pointer(set, handle, .address, $0) }
            let code = perform(handle)
            guard code == 0 else { throw SystemLibrary.Failure("libcurl failed with code \(code)") }
            return received
        }
    }
#endif
