package import LarderFoundation
package import Larder

/// A difference from an expectation.
struct Mismatch: Sendable {
    var key: String
    var expected: String
    var actual: String
    var position: SourcePosition

    /// `freshness fresh, not stale`.
    var text: String { (key == Self.answer ? "" : key + " ") + "\(expected), not \(actual)" }

    /// The key of differences of the whole answer.
    static let answer = "answer"
}

extension ScenarioReport.Result {
    /// The differences of an answer from its expectation.
    func mismatches(of answer: StoryHistory.Answer) -> [Mismatch] {
        guard let expectation = scenario.expectations[answer.number] else { return [] }
        var found: [Mismatch] = []
        func compare(_ key: String, expected: String?, actual: String, isMet: Bool) {
            guard let expected, !isMet else { return }
            let position = expectation.node.members?.first { $0.name == key }?.position ?? expectation.node.position
            found.append(Mismatch(key: key, expected: expected, actual: actual, position: position))
        }
        switch answer.ending {
        case nil:
            let mayBeMissing = expectation.answered == "either" && expectation.within == nil && expectation.takes == nil
            compare(Mismatch.answer, expected: "an answer", actual: "none", isMet: mayBeMissing)
            if !mayBeMissing { return found }
        case .error(let error):
            if expectation.error == nil, expectation.status == nil, expectation.answered ?? "yes" == "yes" {
                compare(Mismatch.answer, expected: "a value", actual: "error \(error.code)", isMet: false)
            }
            let status = error.status.map(String.init) ?? "none"
            compare(
                "error", expected: expectation.error, actual: "\(error.code)",
                isMet: expectation.error == "\(error.code)")
            compare(
                "status", expected: expectation.status.map(String.init), actual: status,
                isMet: expectation.status == error.status)
        case .value(let loaded):
            compare("answered", expected: "no value", actual: "a value", isMet: expectation.answered != "no")
            let error = expectation.error ?? expectation.status.map { "with status \($0)" }
            compare("error", expected: error, actual: "a value", isMet: false)
            judge(loaded, of: answer, by: expectation, compare)
        }
        if let took = answer.took {
            compare(
                "takes", expected: expectation.takes?.spelled, actual: took.spelled, isMet: took == expectation.takes)
        }
        let calls = history.calls(by: answer)
        compare(
            "calls", expected: expectation.calls.map(String.init), actual: "\(calls)", isMet: calls == expectation.calls
        )
        let seen = history.seen(by: answer)
        let age = seen.age?.short ?? "unknown"
        for (key, limit, measure, actual) in [
            ("within", expectation.within.map(PromiseLimit.time), PromiseMeasure.wait, answer.took?.spelled),
            ("callsAtMost", expectation.callsAtMost.map(PromiseLimit.calls), .calls, "\(seen.calls)"),
            ("noOlderThan", expectation.noOlderThan.map(PromiseLimit.time), .age(oldest: .forever), age),
            (
                "freshWithin", expectation.freshWithin.map(PromiseLimit.time), .freshness(oldest: .forever),
                age + ", not refreshed"
            ),
        ] {
            guard let limit, let actual else { continue }
            compare(key, expected: limit.written, actual: actual, isMet: limit.covers(measure.limitNeeded(by: seen)))
        }
        return found
    }

    private func judge(
        _ loaded: Loaded<Data>, of answer: StoryHistory.Answer, by expectation: Expectation,
        _ compare: (String, String?, String, Bool) -> Void
    ) {
        let value = JSON(payload: loaded.value)
        compare("value", expectation.value?.shortText, value.shortText, value.isSame(as: expectation.value))
        compare(
            "freshness", expectation.freshness, loaded.freshness.rawValue,
            expectation.freshness == loaded.freshness.rawValue)
        compare("source", expectation.source, "\(loaded.source)", loaded.source.isMeant(by: expectation.source))
        let age = loaded.age?.short ?? "unknown"
        switch expectation.age {
        case nil: break
        case .unknown: compare("age", "unknown", age, loaded.age == nil)
        case .about(let range, let text): compare("age", text, age, loaded.age.map(range.contains) ?? false)
        }
        compare(
            "fellBack", expectation.fellBack.map { "\($0)" }, "\(loaded.fellBack)",
            expectation.fellBack == loaded.fellBack)
    }
}

extension StoryHistory {
    /// Returns the age of a value when the load ends; nil if it is unknown. An answer of the origin grows older while it is
    /// saved.
    private func age(of loaded: Loaded<Data>, in answer: Answer) -> Duration? {
        switch loaded.source {
        case .store, .fallback: return loaded.age
        case .origin, .revalidated: break
        }
        let arrival = calls.filter(\.isAnswered).compactMap(\.end).filter { $0 <= answer.end ?? .forever }.max()
        let saving = answer.end.flatMap { end in arrival.map { end - $0 } }
        return (loaded.age ?? .zero) + (saving ?? .zero)
    }

    /// The answer as its user sees it, with the calls that began from the request on.
    fileprivate func seen(by answer: Answer) -> ObservedLoad {
        var seen = ObservedLoad(ending: .never)
        if case .value(let loaded) = answer.ending { seen.ending = .value(age: age(of: loaded, in: answer)) }
        seen.waited = answer.took
        seen.calls = calls.count { $0.start >= answer.start }
        // An answer of the origin later than the request makes the copy current.
        let answered = calls.filter(\.isAnswered).compactMap(\.end).filter { $0 >= answer.start }.min()
        seen.refreshedAfter = answered.map { $0 - answer.start }
        return seen
    }
}

extension Source {
    /// Whether the word of an expectation stands for this source.
    func isMeant(by word: String?) -> Bool {
        switch self {
        case .store where word == "copy": true
        case .fallback where word == "fallback": true
        default: word == description
        }
    }
}

extension JSON {
    /// The value of a payload. Bytes that are not JSON become a string.
    package init(payload: Data) {
        let root = try? JSONParser.parse(SourceText(name: "payload", bytes: Array(payload)))
        self = root?.json ?? .string(String(decoding: payload, as: UTF8.self))
    }

    /// Whether two values are the same, apart from the order of members and the spelling of numbers.
    func isSame(as other: JSON?) -> Bool {
        sorted.text(indented: false) == other?.sorted.text(indented: false)
    }

    /// The same value, with the members of its objects sorted by name.
    private var sorted: JSON {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        case .list(let items): .list(items.map(\.sorted))
        default: self
        }
    }

    /// The value on one line, cut short.
    var shortText: String {
        let text = text(indented: false)
        return text.count <= 60 ? text : text.prefix(59) + "…"
    }
}

extension Duration {
    /// The duration as text, rounded down: `800ms`, `1.5s`, `3h`, `6d23h`.
    var short: String {
        if self < .zero { return "-" + (.zero - self).short }
        if self < .seconds(60) {
            return self < .seconds(1) && self > .zero ? spelled : "\(JSON.number(milliseconds / 1_000).text())s"
        }
        let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
        var seconds = Int(components.seconds)
        let parts = units.map { name, size in
            defer { seconds %= size }
            return (name: name, count: seconds / size)
        }
        return parts.drop { $0.count == 0 }.prefix(2).filter { $0.count > 0 }.map { "\($0.count)\($0.name)" }.joined()
    }

    /// Whole milliseconds, rounded down.
    private var milliseconds: Double { Double(nanoseconds / 1_000_000) }
}
