extension Collection where Element: Sendable {
    /// Returns the results of `work` for all elements, in the order of the elements. Works on all of them at the same
    /// time.
    func concurrentMap<Result: Sendable>(
        _ work: @escaping @Sendable (Element) async -> Result
    ) async -> [Result] {
        // One element needs no task, and so no time passes between the end of its work and the return.
        if count == 1, let first { return [await work(first)] }
        return await withTaskGroup(of: (index: Int, result: Result).self) { group in
            for (index, element) in enumerated() { group.addTask { (index, await work(element)) } }
            var results: [(index: Int, result: Result)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.index < $1.index }.map(\.result)
        }
    }
}
