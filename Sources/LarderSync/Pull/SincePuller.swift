import Larder

extension Plugin {
    /// Fetches what has changed since a time of the service.
    static let pullSince = puller(
        "since",
        "Fetches what has changed since the last time, page by page. Times are the service's own, never the device's.",
        .group(PageSettings()), .group(SinceSettings()),
        facts: { pages, since in
            let later =
                pages.calls([since.since]) + (pages.next == nil ? [] : pages.calls([since.since, since.cursor]))
            var facts = PullFacts(calls: pages.calls([]) + later)
            (facts.seesDeletions, facts.needsUpdatedAt) = (pages.tellsDeletions, since.serverTime == nil)
            return facts
        }
    ) { _, pages, since in SincePuller(JSONPages(pages), since) }
}

/// The settings of the puller `since`.
struct SinceSettings {
    let serverTime = Setting(
        "serverTime", optional: .answerPointer,
        help: "The place of the service's time in an answer, from which the next pull begins; by default that of the "
            + "latest change in the answer (\"updatedAt\")")
    let overlap = Setting(
        "overlap", .duration(.zero ... .seconds(366 * 86_400)), default: .seconds(60),
        help: "How far before that time the next pull begins, for changes that the service shows late")
    let since = Setting(
        "since", .parameterName, default: "since", help: "The parameter of the URL for the time since when")
    let cursor = Setting(
        "cursor", .parameterName, default: "cursor", help: "The parameter of the URL for the cursor of a page")
    let size = Setting<String>.pageSize
}

/// Asks for what has changed since a time that the service has told.
struct SincePuller: Puller {
    let pages: JSONPages
    let serverTime: JSONPointer?
    private let overlap: Duration
    let (since, cursor, size): (String, String, String)

    init(_ pages: JSONPages, _ settings: SettingValues<SinceSettings>) {
        (self.pages, serverTime, overlap) = (pages, settings.serverTime, settings.overlap)
        (since, cursor, size) = (settings.since, settings.cursor, settings.size)
    }

    func page(_ question: PullQuestion) async throws -> PullPage {
        let parameters = question.parameters([since: question.position, cursor: question.cursor], size: size)
        var (page, answer) = try await pages.ask(question, parameters)
        page.position = try position(after: page, answer, question)
        return page
    }

    /// Returns the time from which the next pull begins; nil if the page tells none.
    private func position(after page: PullPage, _ answer: JSONText, _ question: PullQuestion) throws -> String? {
        if let serverTime {
            if let time = answer[serverTime], let text = earlier(time) {
                // The clock of the service was ahead when the position was given. What has changed since may be before it.
                if question.cursor == nil, isBefore(time, question.position) { throw PullError.positionExpired }
                return text
            }
            // Only the first page must tell it.
            if question.cursor != nil { return nil }
            throw PullError.malformed("there is no time at '\(serverTime)'")
        }
        guard let updatedAt = question.updatedAt else { return nil }
        let times = page.records.compactMap { record -> (time: Int64, text: JSONText)? in
            guard let text = record[updatedAt], let time = StampFormat(of: text)?.time(text) else { return nil }
            return (time, text)
        }
        // Nothing has changed: the next pull begins where this one did.
        return times.max { $0.time < $1.time }.flatMap { earlier($0.text, latest: question.now) } ?? question.position
    }

    /// Returns whether a time of the service is before a position that it has given.
    private func isBefore(_ time: JSONText, _ position: String?) -> Bool {
        guard let position, let format = StampFormat(of: time), let now = format.time(time) else { return false }
        let isText = time.kind == .string
        let value = isText ? JSONText(string: position) : (try? JSONText(position.utf8)) ?? .null
        return format.time(value).map { now < $0 } ?? false
    }

    /// Returns a time less the overlap, as the service writes times; nil if it is none.
    ///
    /// - Parameter latest: the time that it cannot be after. One record whose time is wrong must not hide all later changes.
    private func earlier(_ text: JSONText, latest: Timestamp? = nil) -> String? {
        guard let format = StampFormat(of: text), let time = format.time(text) else { return nil }
        return format.text(min(time, latest?.milliseconds ?? time) - overlap.milliseconds).name
    }
}
