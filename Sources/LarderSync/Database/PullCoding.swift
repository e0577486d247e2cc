import Larder

/// The state of the pulls is read with each query, and `JSONDecoder` would take longer than a small query.
extension PullState {
    /// The state as JSON.
    var text: JSONText {
        var members = JSONText.Members()
        members.add("completedAt", completedAt)
        members.add("edition", Int64(edition))
        members.add("epoch", epoch)
        if isExpired { members.add("expired", true) }
        members.add("failure", failure)
        members.add("fullAt", fullAt)
        members.add("generation", generation)
        if isTrimmed { members.add("isTrimmed", true) }
        members.add("position", position)
        members.add("run", run?.text)
        members.add("source", source)
        members.add("suspected", suspected)
        return JSONText(object: members)
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
        var members = JSONText.Members()
        members.add("began", began)
        members.add("candidate", candidate)
        members.add("cursor", cursor)
        members.add("hasStaleRows", hasStaleRows)
        members.add("isCandidateEarly", isCandidateEarly)
        members.add("isFull", isFull)
        members.add("landmark", landmark)
        members.add("pages", Int64(pages))
        members.add("startedAt", startedAt)
        if failures != 0 { members.add("failures", Int64(failures)) }
        return JSONText(object: members)
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
