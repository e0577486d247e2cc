#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A few threads that may block, started one by one as work waits and none is idle. They end with their owner.
///
/// Dispatch would lend threads too, but on Linux they come from the pool that runs Swift's tasks.
final class BlockingThreads: Sendable {
    private let queue = Queue()
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    deinit {
        queue.close()
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        if queue.add(work, limit: limit) { startThread() }
    }

    private func startThread() {
        // The thread keeps the queue alive, not the owner: so the owner's end can be its end.
        let context = Unmanaged.passRetained(queue).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = pthread_create(&thread, nil, { Queue.serve($0) }, context)
            if status == 0, let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let status = pthread_create(&thread, nil, { $0.flatMap { Queue.serve($0) } }, context)
            if status == 0 { pthread_detach(thread) }
        #endif
        if status != 0 {
            Unmanaged<Queue>.fromOpaque(context).release()
            queue.threadFailed()
        }
    }

    /// `@unchecked Sendable`: everything mutable is reached only while `mutex` is held.
    private final class Queue: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var work: [@Sendable () -> Void] = []
        private var next = 0
        private var threads = 0
        private var idle = 0
        private var closed = false

        init() {
            mutex.initialize(to: pthread_mutex_t())
            wakeUp.initialize(to: pthread_cond_t())
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(wakeUp, nil)
        }

        deinit {
            pthread_cond_destroy(wakeUp)
            pthread_mutex_destroy(mutex)
            wakeUp.deallocate()
            mutex.deallocate()
        }

        /// Queues the work and says whether a new thread should be started for it.
        func add(_ item: @escaping @Sendable () -> Void, limit: Int) -> Bool {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            work.append(item)
            if idle >= work.count - next || threads >= limit {
                pthread_cond_signal(wakeUp)
                return false
            }
            threads += 1
            return true
        }

        /// No thread could be started; when none is left, the queued work runs on the thread that asked.
        func threadFailed() {
            pthread_mutex_lock(mutex)
            threads -= 1
            let orphaned = threads == 0 ? Array(work[next...]) : []
            if threads == 0 {
                work.removeAll()
                next = 0
            }
            pthread_mutex_unlock(mutex)
            for item in orphaned { item() }
        }

        func close() {
            pthread_mutex_lock(mutex)
            closed = true
            pthread_cond_broadcast(wakeUp)
            pthread_mutex_unlock(mutex)
        }

        private func take() -> (@Sendable () -> Void)? {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            while next == work.count {
                if closed { return nil }
                idle += 1
                pthread_cond_wait(wakeUp, mutex)
                idle -= 1
            }
            let item = work[next]
            next += 1
            if next * 2 >= work.count {
                work.removeFirst(next)
                next = 0
            }
            return item
        }

        static func serve(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            let queue = Unmanaged<Queue>.fromOpaque(context).takeRetainedValue()
            while let item = queue.take() { item() }
            return nil
        }
    }
}
