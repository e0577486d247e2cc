/// Threads that may block, with a few of its own for each name. So work which hangs under one name holds up no other.
///
/// The threads of a name start when they are needed. They end when they have been idle for a while. When this object is
/// deallocated, they end once their work is done.
package final class NamedThreads: Sendable {
    private let threads = Locked<[String: BlockingThreads]>([:])
    private let idleTime: Int

    /// - Parameter idleTime: the time in milliseconds after which an idle thread ends.
    package init(idleTime: Int = 10_000) {
        self.idleTime = idleTime
    }

    /// The number of names whose threads are kept.
    package var count: Int { threads.withLock { $0.count } }

    /// Runs work on one of the threads of a name, after the work that waits for them already. At most `limit` threads of
    /// the name run at once.
    package func run(on name: String, atMost limit: Int, _ work: @escaping @Sendable () -> Void) {
        let starting = threads.withLock { all -> BlockingThreads? in
            if all[name] == nil { all = all.filter { !$0.value.isUnused } }
            let own = all[name] ?? BlockingThreads(limit: limit, idleTime: idleTime)
            all[name] = own
            return own.add(work, limit: max(1, limit)) ? own : nil
        }
        starting?.startThread()
    }
}
