/// The jobs that can run, in the order in which they could.
struct Jobs {
    private var jobs: [UnownedJob] = []
    /// Where the first is: those before it have been taken.
    private var first = 0

    mutating func append(_ job: UnownedJob) {
        jobs.append(job)
    }

    mutating func takeFirst() -> UnownedJob? {
        guard first < jobs.count else { return nil }
        defer {
            first += 1
            if first == jobs.count || first > 1_024 && 2 * first > jobs.count {
                jobs.removeFirst(first)
                first = 0
            }
        }
        return jobs[first]
    }

    /// Takes the one that `choose` chooses, of as many as it is told.
    mutating func takeAny(_ choose: (Int) -> Int) -> UnownedJob? {
        guard first < jobs.count else { return nil }
        return jobs.remove(at: first + choose(jobs.count - first))
    }
}
