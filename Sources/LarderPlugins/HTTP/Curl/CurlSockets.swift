#if canImport(Glibc) || canImport(Musl)
    import CLarder
    import LarderSystem
    import LarderCore
    import LarderFoundation

    /// The sockets of libcurl's connections, a timer, and a signal. One thread waits until any of them is ready.
    ///
    /// `@unchecked Sendable`: `ready` is used by the waiting thread alone, and `timerEnd` by the thread that has the
    /// engine's turn. The descriptors never change, and the system's calls may be made from any thread.
    final class CurlSockets: @unchecked Sendable {
        typealias Ready = UnsafeBufferPointer<ReadyDescriptor>

        static var noneReady: Ready { Ready(start: nil, count: 0) }

        private let watch: Int32
        private let signal: Int32
        private let timer: Int32
        private let ready = UnsafeMutablePointer<ReadyDescriptor>.allocate(capacity: 64)
        /// The uptime at which the timer is ready; ``Duration/forever`` if it is not set.
        private var timerEnd = Duration.forever

        /// Creates a set without sockets. Returns nil if the process may open no more files.
        init?() {
            (watch, signal, timer) = (larder_make_watch(), larder_make_event(), larder_make_timer())
            ready.initialize(repeating: ReadyDescriptor(), count: 64)
            guard watch >= 0, signal >= 0, timer >= 0, larder_watch(watch, signal, 1), larder_watch(watch, timer, 1)
            else { return nil }
        }

        deinit {
            for descriptor in [watch, signal, timer] where descriptor >= 0 { close(descriptor) }
            ready.deallocate()
        }

        /// Has libcurl tell which sockets must be watched. This object must outlive the handle.
        func attach(to multi: CurlLibrary.Handle, of curl: CurlLibrary) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            _ = larder_curl_multi_set_pointer(curl.setMulti, multi, .socketData, context)
            _ = larder_curl_multi_set_watch_function(curl.setMulti, multi, .socketFunction) {
                _, socket, directions, context, _ in
                // An error would end the use of libcurl for good.
                guard let context else { return 0 }
                Unmanaged<CurlSockets>.fromOpaque(context).takeUnretainedValue().watch(socket, directions)
                return 0
            }
        }

        /// Watches a socket from now on, or with 4 no more.
        private func watch(_ socket: Int32, _ directions: Int32) {
            guard directions & 4 == 0 else { return larder_unwatch(watch, socket) }
            // If the system cannot watch it, its request ends at its limit.
            _ = larder_watch(watch, socket, directions)
        }

        /// Wakes the thread that waits, or lets it not wait the next time.
        func wake() {
            var one: UInt64 = 1
            _ = write(signal, &one, 8)
        }

        /// Wakes the thread that waits at an uptime, or earlier.
        func wake(at end: Duration, now: Duration) {
            guard end < timerEnd else { return }
            timerEnd = end
            larder_set_timer(timer, Int64(clamping: max(1, (end - now).nanoseconds)))
        }

        /// Waits until something is ready. Returns the sockets that are.
        func wait() -> Ready {
            let count = Int(larder_await_ready(watch, ready))
            return Ready(start: ready, count: count)
        }

        /// Returns whether a descriptor that is ready is a socket. The signal and the timer are set back.
        func isSocket(_ descriptor: Int32) -> Bool {
            guard descriptor == signal || descriptor == timer else { return true }
            var number: UInt64 = 0
            _ = read(descriptor, &number, 8)
            if descriptor == timer { timerEnd = .forever }
            return false
        }
    }
#endif
