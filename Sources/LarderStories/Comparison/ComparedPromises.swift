import Larder

/// The promises that change sides when a policy replaces another one. They were kept and are broken, or the other way
/// round.
enum ComparedPromises {
    /// Returns the changes in plain words. The promises of the old policy are proved for the new one too, because a new
    /// policy can leave out what it would break.
    ///
    /// - Parameter progress: is told which share of the situations was played. It is called from several threads.
    /// - Throws: `PolicyError` if a policy cannot be composed.
    static func lines(
        from old: SimulatedPolicy, to new: SimulatedPolicy, progress: @escaping @Sendable (Double) -> Void
    ) throws -> [String] {
        let isSame = old.promises == new.promises
        let count = isSame ? 2.0 : 3.0
        let before = try PromiseProof(old) { progress($0 / count) }
        let after = try PromiseProof(new) { progress((1 + $0) / count) }
        let kept = isSame ? after : try PromiseProof(new.promising(old.promises)) { progress((2 + $0) / count) }
        let own = Dictionary(uniqueKeysWithValues: after.verdicts.map { ($0.promise, $0) })
        var lines: [String] = []
        for (former, verdict) in zip(before.verdicts, kept.verdicts) where former.isProved != verdict.isProved {
            let present = own[former.promise]
            let isKept = present?.isProved == true ? "kept" : "broken"
            let now = present.map { $0.limit == former.limit ? "" : "; the new limit \($0.limit) is \(isKept)" }
            lines.append(
                "promise \(former.promise) \(former.limit): \(former.inWords) → \(verdict.inWords)"
                    + (now ?? "; the promise is removed"))
        }
        let told = Dictionary(uniqueKeysWithValues: before.verdicts.map { ($0.promise, $0.limit) })
        for verdict in after.verdicts where told[verdict.promise] != verdict.limit && !verdict.isProved {
            let former = told[verdict.promise].map { "\($0) → " } ?? ""
            let name = former.isEmpty ? "new promise" : "promise"
            lines.append("\(name) \(verdict.promise) \(former)\(verdict.limit): \(verdict.inWords)")
        }
        return lines
    }
}

extension PromiseVerdict {
    fileprivate var inWords: String {
        guard let refutation else { return "kept" }
        return "broken (\(refutation.story.inWords): \(refutation.observation.inWords(for: promise)))"
    }
}
