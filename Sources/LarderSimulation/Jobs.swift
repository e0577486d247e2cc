/// A queue of the jobs that can run.
struct Jobs {
    private var jobs: [UnownedJob] = []
    /// The index of the first job. The jobs before it have been taken.
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

    /// Takes a job. `choose` receives the number of jobs and returns the index of one.
    mutating func takeAny(_ choose: (Int) -> Int) -> UnownedJob? {
        guard first < jobs.count else { return nil }
        return jobs.remove(at: first + choose(jobs.count - first))
    }
}
