import Larder

/// The state of the pulls is read with each query, and `JSONDecoder` would take longer than a small query.
extension PullState {
    /// The state as JSON.
    var text: JSONText {
        let members: [(name: String, value: JSONText?)] = [
            ("completedAt", completedAt.map { JSONText(integer: $0) }), ("edition", JSONText(integer: Int64(edition))),
            ("epoch", epoch.map { JSONText(string: $0) }), ("expired", isExpired ? JSONText(.bool(true)) : nil),
            ("failure", failure.map { JSONText(string: $0) }),
            ("fullAt", fullAt.map { JSONText(integer: $0) }), ("generation", JSONText(integer: generation)),
            ("isTrimmed", isTrimmed ? JSONText(.bool(true)) : nil),
            ("position", position.map { JSONText(string: $0) }), ("run", run?.text),
            ("source", JSONText(string: source)), ("suspected", suspected.map { JSONText(integer: $0) }),
        ]
        return JSONText(object: members.compactMap { member in member.value.map { (member.name, $0) } })
    }

    /// Reads a state. Returns nil if the text is none.
    init?(_ text: JSONText) {
        guard let source = text["source"]?.string, let generation = text["generation"]?.integer,
            let edition = text["edition"]?.integer
        else { return nil }
        (self.source, self.generation, self.edition) = (source, generation, Int(clamping: edition))
        (position, epoch) = (text["position"]?.string, text["epoch"]?.string)
        (completedAt, fullAt) = (text["completedAt"]?.integer, text["fullAt"]?.integer)
        (suspected, isExpired) = (text["suspected"]?.integer, text["expired"]?.bool ?? false)
        (isTrimmed, failure) = (text["isTrimmed"]?.bool == true, text["failure"]?.string)
        if let text = text["run"] {
            guard let run = PullRun(text) else { return nil }
            self.run = run
        }
    }
}

extension PullRun {
    fileprivate var text: JSONText {
        let members: [(name: String, value: JSONText?)] = [
            ("began", JSONText(integer: began)), ("candidate", candidate.map { JSONText(string: $0) }),
            ("cursor", cursor.map { JSONText(string: $0) }), ("hasStaleRows", JSONText(.bool(hasStaleRows))),
            ("isCandidateEarly", JSONText(.bool(isCandidateEarly))), ("isFull", JSONText(.bool(isFull))),
            ("landmark", landmark.map { JSONText(string: $0) }), ("pages", JSONText(integer: Int64(pages))),
            ("startedAt", JSONText(integer: startedAt)),
            ("failures", failures == 0 ? nil : JSONText(integer: Int64(failures))),
        ]
        return JSONText(object: members.compactMap { member in member.value.map { (member.name, $0) } })
    }

    fileprivate init?(_ text: JSONText) {
        guard let began = text["began"]?.integer, let isFull = text["isFull"]?.bool,
            let isCandidateEarly = text["isCandidateEarly"]?.bool, let hasStaleRows = text["hasStaleRows"]?.bool,
            let pages = text["pages"]?.integer, let startedAt = text["startedAt"]?.integer
        else { return nil }
        self.init(
            began: began, startedAt: startedAt, isFull: isFull, cursor: text["cursor"]?.string,
            candidate: text["candidate"]?.string,
            isCandidateEarly: isCandidateEarly, hasStaleRows: hasStaleRows, landmark: text["landmark"]?.string,
            pages: Int(clamping: pages), failures: Int(clamping: text["failures"]?.integer ?? 0))
    }
}
