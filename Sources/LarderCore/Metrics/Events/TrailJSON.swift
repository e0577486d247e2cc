import LarderSystem

extension Trail.Step {
    /// The step as JSON: its part, the kind of its event, and the event's facts. Times are in seconds.
    ///
    /// ```json
    /// { "part": "retry", "event": "retrying", "after": 0.8, "code": "timeout", "attempt": 2, "wait": 1 }
    /// ```
    public var json: JSON {
        let own: [JSON.Member] = [.init("part", .string(part)), .init("event", .string(event.kind.description))]
        let facts = event.words.facts.filter { fact in !own.contains { $0.name == fact.name } }
        return .object(own + facts.map { .init($0.name, $0.value.json) })
    }
}

extension Trail.Words.Value {
    fileprivate var json: JSON {
        switch self {
        case .time(let time): .number(time.inSeconds)
        case .number(let number): .int(number)
        case .text(let text): .string(text)
        case .list(let items): .list(items.map { .string($0) })
        }
    }
}
