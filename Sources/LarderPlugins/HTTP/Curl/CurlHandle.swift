#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderFoundation

    /// A handle of libcurl for one exchange after the other.
    struct CurlHandle {
        /// The options that many requests have in common.
        struct Setup: Hashable {
            var isSecure: Bool
            var trust: HTTPTrust
        }

        let pointer: CurlLibrary.Handle
        /// The options that are set; nil if none are.
        var setup: Setup?
    }

    /// Handles that are kept for further exchanges.
    struct CurlHandlePool {
        private static let capacity = 64

        private var spare: [CurlHandle] = []

        var isFull: Bool { spare.count >= Self.capacity }

        /// Returns a handle; nil if libcurl has no memory left.
        mutating func take(of curl: CurlLibrary) -> CurlHandle? {
            spare.popLast() ?? curl.makeEasy().map { CurlHandle(pointer: $0) }
        }

        mutating func keep(_ handle: CurlHandle) { spare.append(handle) }

        /// Frees the handles. The pool is not used afterwards.
        func release(of curl: CurlLibrary) {
            for handle in spare { curl.endEasy(handle.pointer) }
        }
    }

    extension CurlHandle.Setup {
        /// Sets the options of a handle.
        func apply(to handle: CurlLibrary.Handle, of curl: CurlLibrary) {
            _ = larder_curl_set_data_function(curl.setEasy, handle, .writeFunction, CurlExchange.receiveBody)
            _ = larder_curl_set_data_function(curl.setEasy, handle, .headerFunction, CurlExchange.receiveLine)
            curl.set(.noSignal, 1, on: handle)
            // A cancelled exchange does not wait until the system's look-up of a name has ended.
            curl.set(.quickExit, 1, on: handle)
            curl.set(.disallowUsernameInURL, 1, on: handle)
            if !curl.set(.protocolNames, "http,https", on: handle) { curl.set(.protocols, 3, on: handle) }
            curl.set(.suppressConnectHeaders, 1, on: handle)
            curl.set(.tcpKeepAlive, 1, on: handle)
            curl.set(.sslVerifyPeer, 1, on: handle)
            curl.set(.sslVerifyHost, 2, on: handle)
            _ = larder_curl_set_socket_function(curl.setEasy, handle, .socketFunction, Self.closeInChildren)
            if curl.hasHTTP2, isSecure {
                // HTTP/2 where TLS offers it. A request waits for a connection that may turn out to carry many.
                curl.set(.httpVersion, 4, on: handle)
                curl.set(.pipeWait, 1, on: handle)
            } else {
                curl.set(.httpVersion, 2, on: handle)
            }
            if let authorities = trust.authorities {
                curl.set(.caInfo, authorities, on: handle)
                curl.set(.caPath, nil, on: handle)
            }
        }

        /// Keeps a socket from programs that this process starts.
        private static let closeInChildren: CurlSocketFunction = { _, socket, _ in
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            return 0
        }
    }
#endif
