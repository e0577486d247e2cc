package import LarderFoundation
package import Larder

/// A difference from an expectation.
struct Mismatch: Sendable {
    var key: String
    var expected: String
    var actual: String
    /// The place of the expectation in its file.
    var position: SourcePosition?

    /// `freshness fresh, not stale`.
    var text: String { (key == Self.answer ? "" : key + " ") + "\(expected), not \(actual)" }

    /// The key of differences of the whole answer.
    static let answer = "answer"
}

extension ScenarioReport.Result {
    /// The differences of an answer from its expectation.
    func mismatches(of answer: StoryHistory.Answer) -> [Mismatch] {
        scenario.expectations[answer.number]?.mismatches(of: answer, in: history) ?? []
    }
}

extension Expectation {
    /// The differences of an answer from it.
    func mismatches(of answer: StoryHistory.Answer, in history: StoryHistory) -> [Mismatch] {
        var found: [Mismatch] = []
        func compare(_ key: String, expected: String?, actual: String, isMet: Bool) {
            guard let expected, !isMet else { return }
            let position = node?.members?.first { $0.name == key }?.position ?? node?.position
            found.append(Mismatch(key: key, expected: expected, actual: actual, position: position))
        }
        switch answer.ending {
        case nil:
            let mayBeMissing = answered == "either" && within == nil && takes == nil
            compare(Mismatch.answer, expected: "an answer", actual: "none", isMet: mayBeMissing)
            if !mayBeMissing { return found }
        case .error, .cancelled:
            let (code, status) = answer.error
            if error == nil, self.status == nil, answered ?? "yes" == "yes" {
                compare(Mismatch.answer, expected: "a value", actual: "error \(code)", isMet: false)
            }
            compare("error", expected: error, actual: code, isMet: error == code)
            compare(
                "status", expected: self.status.map(String.init), actual: status.map(String.init) ?? "none",
                isMet: self.status == status)
        case .value(let loaded):
            compare("answered", expected: "no value", actual: "a value", isMet: answered != "no")
            compare(
                "error", expected: error ?? status.map { "with status \($0)" }, actual: "a value", isMet: false)
            judge(loaded, compare)
        }
        if let took = answer.took {
            compare("takes", expected: takes?.spelled, actual: took.spelled, isMet: took == takes)
        }
        let calls = history.calls(by: answer)
        compare("calls", expected: self.calls.map(String.init), actual: "\(calls)", isMet: calls == self.calls)
        let seen = history.seen(by: answer)
        let age = seen.age?.short ?? "unknown"
        for (key, limit, measure, actual) in [
            ("within", within.map(PromiseLimit.time), PromiseMeasure.wait, answer.took?.spelled),
            ("callsAtMost", callsAtMost.map(PromiseLimit.calls), .calls, "\(seen.calls)"),
            ("noOlderThan", noOlderThan.map(PromiseLimit.time), .age(oldest: .forever), age),
            (
                "freshWithin", freshWithin.map(PromiseLimit.time), .freshness(oldest: .forever),
                age + ", not refreshed"
            ),
        ] {
            guard let limit, let actual else { continue }
            compare(key, expected: limit.written, actual: actual, isMet: limit.covers(measure.limitNeeded(by: seen)))
        }
        return found
    }

    private func judge(_ loaded: Loaded<Data>, _ compare: (String, String?, String, Bool) -> Void) {
        let payload = JSON(payload: loaded.value)
        compare("value", value?.shortText, payload.shortText, payload.isSame(as: value))
        compare("freshness", freshness, loaded.freshness.rawValue, freshness == loaded.freshness.rawValue)
        compare("source", source, "\(loaded.source)", loaded.source.isMeant(by: source))
        let seen = loaded.age?.short ?? "unknown"
        switch age {
        case nil: break
        case .unknown: compare("age", "unknown", seen, loaded.age == nil)
        case .about(let range, let text): compare("age", text, seen, loaded.age.map(range.contains) ?? false)
        }
        compare("fellBack", fellBack.map { "\($0)" }, "\(loaded.fellBack)", fellBack == loaded.fellBack)
        compare("stored", isStored.map { "\($0)" }, "\(loaded.isStored)", isStored == loaded.isStored)
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
