import LarderFoundation
import Dispatch

/// Work on many items that several threads share.
package enum ParallelMap {
    /// The largest number of threads, the calling one included.
    private static let mostThreads = 4

    /// Returns the results of `work` for the numbers from 0 to `count - 1`, in the order of the numbers. Blocks the
    /// thread.
    ///
    /// The threads are neither those of Swift's tasks nor those of Dispatch, so `work` may block. The result is the same
    /// however many threads there are.
    ///
    /// - Parameters:
    ///   - size: the number of items that a thread takes at once. If there are no more, no thread is started.
    ///   - work: returns the results for a range of numbers. It is called from several threads at the same time.
    package static func results<Result: Sendable>(
        for count: Int, inRangesOf size: Int, _ work: @escaping @Sendable (Range<Int>) -> [Result]
    ) -> [Result] {
        let ranges = stride(from: 0, to: count, by: size).map { $0..<min($0 + size, count) }
        // Asking for the number of processors takes longer than short work.
        let threads = ranges.count < 2 ? 1 : min(ranges.count, mostThreads, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        if threads <= 1 { return work(0..<count) }
        let progress = Progress<Result>(ranges, work)
        // If the system has no thread left, this one does all the work.
        for _ in 1..<threads { _ = SystemThread.start { progress.advance() } }
        progress.advance()
        return progress.results()
    }

    private final class Progress<Result: Sendable>: Sendable {
        private struct State {
            var next = 0
            var finished = 0
            var results: [[Result]]
        }

        private let ranges: [Range<Int>]
        private let work: @Sendable (Range<Int>) -> [Result]
        private let state: Locked<State>
        private let isFinished = DispatchSemaphore(value: 0)

        init(_ ranges: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) -> [Result]) {
            self.ranges = ranges
            self.work = work
            state = Locked(State(results: Array(repeating: [], count: ranges.count)))
        }

        /// Works on one range after the other until all are taken.
        func advance() {
            while let number = take() {
                let results = work(ranges[number])
                let isLast = state.withLock { state in
                    state.results[number] = results
                    state.finished += 1
                    return state.finished == ranges.count
                }
                if isLast { isFinished.signal() }
            }
        }

        private func take() -> Int? {
            state.withLock { state in
                guard state.next < ranges.count else { return nil }
                defer { state.next += 1 }
                return state.next
            }
        }

        /// Waits until the work on all ranges has ended, and returns the results.
        func results() -> [Result] {
            isFinished.wait()
            return state.withLock { state in
                defer { state.results = [] }
                return Array(state.results.joined())
            }
        }
    }
}
