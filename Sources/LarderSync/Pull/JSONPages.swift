import Larder

/// The settings of pullers that read pages of JSON.
struct PageSettings {
    let items = Setting(
        "items", .answerPointer, default: JSONPointer(steps: []),
        help: "The place of the list of records in an answer; \"\" for the answer itself")
    let parameters = Setting(
        "parameters", .textMap, default: [:], help: "Parameters of the URL for every page, such as the query of GraphQL"
    )
    let next = Setting(
        "next", optional: .answerPointer,
        help: "The place of the cursor of the next page; missing or null on the last one")
    let deleted = Setting("deleted", optional: .answerPointer, help: "The place of the list of deleted ids")
    let tombstone = Setting(
        "tombstone", optional: .pointer, help: "The place of a flag in a record that says that it was deleted")
    let epoch = Setting(
        "epoch", optional: .answerPointer,
        help: "The place of the service's mark of its own history; if it changes, everything is fetched anew")
}

extension SettingValues<PageSettings> {
    /// Whether an answer tells deletions.
    var tellsDeletions: Bool { self.deleted != nil || self.tombstone != nil }

    /// The parameters of a call with these besides its own.
    func calls(_ names: [String]) -> [[String]] { [names + self.parameters.keys.sorted()] }
}

extension Setting<String> {
    /// The parameter for the size of a page.
    static let pageSize = Setting(
        "size", .parameterName, default: "limit",
        help: "The parameter of the URL for the most records of a page; a URL without it is called without it")
}

/// Reads pages out of answers of JSON.
struct JSONPages: Sendable {
    let items: JSONPointer
    let next: JSONPointer?
    let deleted: JSONPointer?
    let tombstone: JSONPointer?
    let epoch: JSONPointer?
    let parameters: [String: String]

    init(_ settings: SettingValues<PageSettings>) {
        (items, next, deleted) = (settings.items, settings.next, settings.deleted)
        (tombstone, epoch) = (settings.tombstone, settings.epoch)
        parameters = settings.parameters
    }

    /// Reads a page, and the whole answer.
    ///
    /// - Throws: ``PullError/malformed(_:)``; the errors of the call.
    func ask(_ question: PullQuestion, _ parameters: Parameters) async throws -> (page: PullPage, answer: JSONText) {
        let answer = try await answer(to: question, parameters)
        return (try page(in: answer, id: question.id), answer)
    }

    /// Asks for a page, and returns the answer before it is read.
    func answer(to question: PullQuestion, _ parameters: Parameters) async throws -> JSONText {
        let all = parameters.dictionary.merging(self.parameters) { own, _ in own }
        let entry = try await question.fetch(Parameters(all))
        do { return try JSONText(entry.payload.bytes) } catch {
            throw PullError.malformed("the answer is not JSON: \(error.description)")
        }
    }

    /// Reads a page in an answer.
    func page(in answer: JSONText, id: JSONPointer) throws(PullError) -> PullPage {
        guard let list = answer[items], list.kind == .list else {
            throw .malformed("the answer has no list at \(Self.name(items))")
        }
        var page = PullPage(list.items)
        if let deleted, let ids = answer[deleted], ids.kind != .null {
            guard ids.kind == .list else { throw .malformed("the answer has no list at \(Self.name(deleted))") }
            page.deleted = try ids.items.map { id throws(PullError) in
                guard let name = id.name else { throw .malformed("a deleted id is neither a text nor a number") }
                return name
            }
        }
        if let tombstone {
            // In a list of changes, the last one of a record decides.
            var isDeleted: [[UInt8]: Bool] = [:]
            for record in page.records {
                if let name = record[id]?.name { isDeleted[Array(name.utf8)] = record[tombstone]?.bool == true }
            }
            page.deleted += isDeleted.filter(\.value).keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
            page.records.removeAll { record in
                record[tombstone]?.bool == true || record[id]?.name.map { isDeleted[Array($0.utf8)] == true } == true
            }
        }
        page.next = try mark(next, in: answer)
        page.epoch = try mark(epoch, in: answer)
        return page
    }

    /// Returns a text or a number at a place; nil if there is none.
    func mark(_ place: JSONPointer?, in answer: JSONText) throws(PullError) -> String? {
        guard let place, let mark = answer[place], mark.kind != .null else { return nil }
        guard let name = mark.name else {
            throw .malformed("what is at \(Self.name(place)) is neither a text nor a number")
        }
        // Some services say so that there is no next page.
        return name.isEmpty ? nil : name
    }

    private static func name(_ place: JSONPointer) -> String { place.steps.isEmpty ? "its top" : "'\(place)'" }
}
