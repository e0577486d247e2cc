#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderSystem

    /// The functions of libcurl.
    ///
    /// `@unchecked Sendable`: nothing is ever changed, and libcurl's functions may be called from any thread, each
    /// handle by one thread at a time.
    final class CurlLibrary: @unchecked Sendable {
        typealias Handle = UnsafeMutableRawPointer

        /// Whether libcurl's state for the whole process was set up. Before version 7.84, one thread at a time may do that.
        private static let isSetUp = BlockingLock(false)

        let makeEasy: @convention(c) () -> Handle?
        let endEasy: @convention(c) (Handle) -> Void
        let resetEasy: @convention(c) (Handle) -> Void
        let pause: @convention(c) (Handle, Int32) -> Int32
        let makeMulti: @convention(c) () -> Handle?
        let endMulti: @convention(c) (Handle) -> Int32
        let add: @convention(c) (Handle, Handle) -> Int32
        let remove: @convention(c) (Handle, Handle) -> Int32
        /// Does what a ready socket, or with -1 the time, makes possible.
        let act: @convention(c) (Handle, Int32, Int32, UnsafeMutablePointer<Int32>) -> Int32
        /// Tells the milliseconds until time makes something possible; -1 for never.
        let getTimeout: @convention(c) (Handle, UnsafeMutablePointer<Int>) -> Int32
        let readMessage: @convention(c) (Handle, UnsafeMutablePointer<Int32>) -> UnsafeMutablePointer<CurlMessage>?
        let appendToList: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?
        let endList: @convention(c) (UnsafeMutableRawPointer?) -> Void
        let setEasy: UnsafeMutableRawPointer
        let setMulti: UnsafeMutableRawPointer
        let getEasy: UnsafeMutableRawPointer

        /// Whether libcurl speaks HTTP/2.
        let hasHTTP2: Bool
        /// Whether a request can end while a name is looked up. Earlier versions block their thread until the look-up ends.
        let leavesLookUps: Bool

        private let library: SystemLibrary

        /// Looks up libcurl. It stays loaded until the process ends, because it has state for the whole process.
        ///
        /// - Throws: ``SystemLibrary/Failure`` if libcurl is missing, too old or cannot be used.
        init(
            files: [String] = ["libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"]
        ) throws(SystemLibrary.Failure) {
            let package = "libcurl4"
            let library = try SystemLibrary("libcurl", files: files, package: package, staysLoaded: true)
            let version = try library.function(
                "curl_version_info", as: (@convention(c) (Int32) -> UnsafeMutablePointer<CurlVersion>).self)(0).pointee
            // Earlier versions are not tested.
            guard version.number >= 0x07_44_00 else {
                throw SystemLibrary.Failure(
                    "libcurl \(String(cString: version.text)) is too old: update the package \(package) to 7.68 or later"
                )
            }
            let setUp: @convention(c) (Int) -> Int32 = try library.function("curl_global_init")
            let isReady = Self.isSetUp.withLock { isSetUp in
                isSetUp = isSetUp || setUp(3) == 0
                return isSetUp
            }
            guard isReady else { throw SystemLibrary.Failure("libcurl cannot be used: its initialization failed") }
            hasHTTP2 = version.features & (1 << 16) != 0
            leavesLookUps = version.number >= 0x07_57_00
            makeEasy = try library.function("curl_easy_init")
            endEasy = try library.function("curl_easy_cleanup")
            resetEasy = try library.function("curl_easy_reset")
            pause = try library.function("curl_easy_pause")
            makeMulti = try library.function("curl_multi_init")
            endMulti = try library.function("curl_multi_cleanup")
            add = try library.function("curl_multi_add_handle")
            remove = try library.function("curl_multi_remove_handle")
            act = try library.function("curl_multi_socket_action")
            getTimeout = try library.function("curl_multi_timeout")
            readMessage = try library.function("curl_multi_info_read")
            appendToList = try library.function("curl_slist_append")
            endList = try library.function("curl_slist_free_all")
            setEasy = try library.address(of: "curl_easy_setopt")
            setMulti = try library.address(of: "curl_multi_setopt")
            getEasy = try library.address(of: "curl_easy_getinfo")
            self.library = library
        }
    }

    extension CurlLibrary {
        /// Sets an option to a number. Returns false if libcurl does not know the option.
        @discardableResult
        func set(_ option: CurlOption, _ value: Int, on handle: Handle) -> Bool {
            larder_curl_set_long(setEasy, handle, option, value) == 0
        }

        /// Sets an option to an object, which libcurl does not copy.
        func set(_ option: CurlOption, _ value: UnsafeRawPointer?, on handle: Handle) {
            _ = larder_curl_set_pointer(setEasy, handle, option, value)
        }

        /// Sets an option to a text, which libcurl copies. Returns false if libcurl does not know the option.
        @discardableResult
        func set(_ option: CurlOption, _ text: String, on handle: Handle) -> Bool {
            text.withCString { larder_curl_set_pointer(setEasy, handle, option, $0) == 0 }
        }
    }
#endif
