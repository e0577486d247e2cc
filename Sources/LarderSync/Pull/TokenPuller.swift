import Larder

extension Plugin {
    /// Fetches what has changed since a token of the service.
    static let pullToken = puller(
        "token", "Fetches what has changed since a token that the service gave.", .group(PageSettings()),
        .group(TokenSettings()),
        facts: { pages, token in
            let pagesByCursor = token.more == nil && pages.next != nil
            var facts = PullFacts(
                calls: pages.calls([]) + pages.calls([token.parameter])
                    + (pagesByCursor ? pages.calls([token.parameter, token.cursor]) : []))
            facts.seesDeletions = pages.tellsDeletions
            return facts
        }
    ) { _, pages, token in TokenPuller(JSONPages(pages), token) }
}

/// The settings of the puller `token`.
struct TokenSettings {
    let token = Setting(
        "token", .answerPointer, help: "The place of the token in an answer, which the next call sends back")
    let more = Setting(
        "more", optional: .answerPointer,
        help: "The place of a flag in an answer that says that there are more pages; by default, \"next\" says it")
    let expired = Setting(
        "expired", .list(of: .int(400...599)), default: [410],
        help: "The statuses by which the service says that it does not know a token any more")
    let expiredCode = Setting(
        "expiredCode", optional: .answerCode,
        help:
            "A value in an answer of any status that says the same, such as { \"at\": \"/error/code\", \"is\": \"reset\" }"
    )
    let parameter = Setting(
        "parameter", .parameterName, default: "token", help: "The parameter of the URL for the token")
    let cursor = Setting(
        "cursor", .parameterName, default: "cursor", help: "The parameter of the URL for the cursor of \"next\"")
    let size = Setting<String>.pageSize
}

/// Asks for what has changed since a token.
struct TokenPuller: Puller {
    let pages: JSONPages
    let token: JSONPointer
    let more: JSONPointer?
    private let expired: [Int]
    private let expiredCode: AnswerCode?
    let (parameter, cursor, size): (String, String, String)

    init(_ pages: JSONPages, _ settings: SettingValues<TokenSettings>) {
        (self.pages, token, more) = (pages, settings.token, settings.more)
        (expired, expiredCode) = (settings.expired, settings.expiredCode)
        (parameter, cursor, size) = (settings.parameter, settings.cursor, settings.size)
    }

    func page(_ question: PullQuestion) async throws -> PullPage {
        var (page, answer) = try await ask(question)
        guard let next = try pages.mark(token, in: answer) else {
            // Many services give it on the last page only.
            if more == nil, page.next != nil { return page }
            throw PullError.malformed("there is no token at '\(token)'")
        }
        if let more {
            guard let flag = answer[more]?.bool else {
                throw PullError.malformed("what is at '\(more)' is neither true nor false")
            }
            page.next = flag ? next : nil
        }
        // A token in the middle of a pull is a cursor.
        if page.next == nil { page.position = next }
        return page
    }

    private func ask(_ question: PullQuestion) async throws -> (page: PullPage, answer: JSONText) {
        let token = more == nil ? question.position : question.cursor ?? question.position
        let values = [parameter: token, cursor: more == nil ? question.cursor : nil]
        let parameters = question.parameters(values, size: size)
        let answer: JSONText
        do { answer = try await pages.answer(to: question, parameters) } catch let error as LoadError
            where error.status.map(expired.contains) == true
            || isExpired(error.reply.flatMap { try? JSONText($0.body) })
        { throw PullError.positionExpired }
        if isExpired(answer) { throw PullError.positionExpired }
        return (try pages.page(in: answer, id: question.id), answer)
    }

    private func isExpired(_ answer: JSONText?) -> Bool {
        guard let expiredCode, let answer else { return false }
        return expiredCode.isIn(answer)
    }
}
