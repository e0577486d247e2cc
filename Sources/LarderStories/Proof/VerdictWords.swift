import Larder

extension ObservedLoad {
    /// The observation in plain words, as far as a promise is about it.
    func inWords(for promise: String) -> String {
        let time = waited.map { $0 == .zero ? "at once" : "after \($0.inWords)" } ?? "never"
        if promise == "callsPerLoad" { return "the load causes \(calls) call\(calls == 1 ? "" : "s")" }
        switch ending {
        case .value(let age) where promise == "waits" || promise == "waitsAtMost":
            return "the load ends \(time)" + (age == nil ? " with a fallback" : "")
        case .value(nil): return "a fallback of unknown age is shown"
        case .value(let age?) where isLive: return "the answer is shown \(time), \(age.inWords) old"
        case .value(let age?):
            let refreshed = refreshedAfter.map { $0 == .zero ? "" : " after \($0.inWords)" }
            return "the copy is shown \(time), \(age.inWords) old" + (refreshed.map { ", and refreshed" + $0 } ?? "")
        case .error(let code, let status):
            return "the load fails \(time) (\(code)\(status.map { " \($0)" } ?? ""))"
        case .never: return "the load never ends"
        }
    }
}

extension PromiseProof {
    /// A line for each promise, and one for each gap.
    package var lines: [String] {
        verdicts.flatMap(\.lines) + gaps.map { "not complete: \($0)" }
    }
}

extension PromiseVerdict {
    /// The verdict in one line if it is proved, with the situation and a way out otherwise.
    package var lines: [String] {
        let title = "\(promise) \(limit)"
        if situations == 0 { return ["– \(title): not played"] }
        guard let refutation else {
            return ["✓ \(title): proved for \(situations) situation\(situations == 1 ? "" : "s")"]
        }
        let seen = refutation.observation.inWords(for: promise)
        return ["✗ \(title): refuted: \(refutation.story.inWords): \(seen)", "    " + remedy(refutation)]
    }

    private func remedy(_ refutation: Refutation) -> String {
        if let needed = refutation.needed { return "it would hold with \(needed.spelled)" }
        switch promise {
        case "neverOlderThan": return "no limit is enough: copies of any age are shown, or fallbacks of unknown age"
        case "waits", "waitsAtMost":
            return "the load never ends: put a timeout around the origin, and a 'limit' on each store that can hang"
        case "offlineFor" where refutation.story.load.isRestarted:
            return "no time is short enough: keep copies in a store outside the memory of the process"
        case "offlineFor": return "no time is short enough: keep copies in a store, and permit them on errors"
        default: return "no limit is enough"
        }
    }
}
