import Larder

extension Plugin {
    /// Fetches all records each time.
    static let pullAll = puller(
        "all", "Fetches all records each time. Those that are missing then were deleted.", .group(PageSettings()),
        Setting("cursor", .parameterName, default: "cursor", help: "The parameter of the URL for the cursor of a page"),
        .pageSize,
        facts: { pages, cursor, _ in
            var facts = PullFacts(calls: pages.calls([]) + (pages.next == nil ? [] : pages.calls([cursor])))
            facts.isAlwaysFull = true
            return facts
        }
    ) { _, pages, cursor, size in AllPuller(pages: JSONPages(pages), cursor: cursor, size: size) }
}

/// Asks for everything.
struct AllPuller: Puller {
    let pages: JSONPages
    /// The names of parameters.
    let (cursor, size): (String, String)

    func page(_ question: PullQuestion) async throws -> PullPage {
        try await pages.ask(question, question.parameters([cursor: question.cursor], size: size)).page
    }
}

extension PullQuestion {
    /// Returns the parameters of a call: those that have a value, and the size of the page if the URL has a place for it.
    func parameters(_ values: [String: String?], size: String) -> Parameters {
        var parameters = values.compactMapValues(\.self)
        if takes(size) { parameters[size] = String(limit) }
        return Parameters(parameters)
    }
}
