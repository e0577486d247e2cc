import LarderFoundation
import Synchronization

/// A few threads that may block. A thread is started when work waits and no thread is idle. The threads end when this
/// object is deallocated. A thread that has been idle for a while ends, too.
///
/// Dispatch has threads too, but on Linux they come from the pool that runs Swift's tasks.
package final class BlockingThreads: Sendable {
    private let queue: Queue
    private let limit: Int

    /// Threads of which there are at most `limit`, started when they are needed.
    ///
    /// - Parameter idleTime: the time in milliseconds after which an idle thread ends; nil for never.
    package init(limit: Int, idleTime: Int? = nil) {
        self.limit = limit
        queue = Queue(idleTime: idleTime)
    }

    deinit {
        queue.close()
    }

    /// Runs work on one of the threads, after all that waits already.
    package func run(_ work: @escaping @Sendable () -> Void) {
        if add(work, limit: limit) { startThread() }
    }

    /// Adds work that waits for a thread. At most `limit` threads run after this.
    ///
    /// - Returns: whether ``startThread()`` must be called for it.
    func add(_ work: @escaping @Sendable () -> Void, limit: Int) -> Bool { queue.add(work, limit: limit) }

    /// Whether no thread runs and no work waits.
    var isUnused: Bool { queue.isUnused }

    func startThread() {
        // The thread keeps only the queue alive, so this object can be deallocated, which ends the thread.
        let isStarted = SystemThread.start(receivingSignals: true) { [queue] in queue.serve() }
        if !isStarted { queue.threadFailed() }
    }

    /// `@unchecked Sendable`: everything mutable is reached only while `mutex` is held.
    private final class Queue: @unchecked Sendable {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private var work: [@Sendable () -> Void] = []
        private var next = 0
        private var threads = 0
        /// The threads that sleep.
        private var idle = 0
        /// Whether a thread without work has not gone to sleep yet.
        private var isLookingOut = false
        /// The number of items that were ever added. A thread that looks out for work reads it without the lock.
        private let added = Atomic(0)
        private var closed = false
        private let idleTime: Int?

        init(idleTime: Int?) {
            self.idleTime = idleTime
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

        /// Queues the work. Returns whether a new thread should be started for it.
        func add(_ item: @escaping @Sendable () -> Void, limit: Int) -> Bool {
            pthread_mutex_lock(mutex)
            work.append(item)
            added.add(1, ordering: .relaxed)
            let waiting = work.count - next - (isLookingOut ? 1 : 0)
            let needsThread = idle < waiting && threads < limit
            if needsThread { threads += 1 }
            let wakesThread = !needsThread && waiting > 0 && idle > 0
            pthread_mutex_unlock(mutex)
            // A thread that is woken earlier would have to wait for the lock.
            if wakesThread { pthread_cond_signal(wakeUp) }
            return needsThread
        }

        /// Handles a thread that could not be started. If no other thread runs, the queued work runs on the calling
        /// thread.
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
            lookOut()
            while next == work.count {
                if closed { return nil }
                idle += 1
                let isOverdue = !wait()
                idle -= 1
                if isOverdue, next == work.count {
                    threads -= 1
                    return nil
                }
            }
            let item = work[next]
            next += 1
            if next * 2 >= work.count {
                work.removeFirst(next)
                next = 0
            }
            return item
        }

        /// Looks out for work for a moment, unless another thread does. To wake a sleeping thread would take longer than most
        /// work takes: a caller that runs one piece of work after the other waits 5 µs less for each.
        private func lookOut() {
            guard next == work.count, !closed, !isLookingOut else { return }
            isLookingOut = true
            let last = added.load(ordering: .relaxed)
            pthread_mutex_unlock(mutex)
            var looks = 0
            while looks < Self.mostLooks, added.load(ordering: .relaxed) == last {
                sched_yield()
                looks += 1
            }
            pthread_mutex_lock(mutex)
            isLookingOut = false
        }

        /// The number of times that a thread looks for work before it sleeps, each a microsecond or less.
        private static let mostLooks = 40

        /// Waits until there may be work.
        ///
        /// - Returns: false if the thread has been idle for too long.
        private func wait() -> Bool {
            guard let idleTime else { return pthread_cond_wait(wakeUp, mutex) == 0 }
            // The wait uses the wall clock. A thread that ends early or late because the clock jumps does no harm.
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            end.tv_sec += idleTime / 1_000
            end.tv_nsec += idleTime % 1_000 * 1_000_000
            if end.tv_nsec >= 1_000_000_000 {
                (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000)
            }
            return pthread_cond_timedwait(wakeUp, mutex, &end) != ETIMEDOUT
        }

        var isUnused: Bool {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return threads == 0 && next == work.count
        }

        func serve() {
            while let item = take() { item() }
        }
    }
}
