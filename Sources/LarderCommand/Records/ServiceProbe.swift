import LarderFoundation
import Larder
import LarderSync
import LarderSystem

/// Asks a service of records what a policy expects of it. What it finds has no id, value or address in it.
struct ServiceProbe {
    let service: RecordService
    let pull: PartSettings?
    let push: PartSettings?
    let records: PartSettings?
    let now: Timestamp
    /// Called with the number of calls so far.
    var onCall: @Sendable (Int) -> Void = { _ in }
    private(set) var findings: [ProbeFinding] = []
    private let calls = Locked(0)
    /// The first page of all records, once it was read.
    private(set) var first: ProbedPage?
    /// The position after the first pull.
    private(set) var position: String?
    /// The first page of the changes since then, once it was read.
    var changed: ProbedPage?
    /// The ids of all records before anything was written; nil if not all of them are known.
    private(set) var ids: Set<String>?
    /// The change of which nobody knows whether it has made a record.
    var lost: PushedChange?

    /// The most pages that are followed.
    static let mostPages = 30

    init(_ service: RecordService, _ policy: Policy, now: Timestamp) {
        (self.service, self.now) = (service, now)
        let part = policy.section(.records)
        func nested(_ kind: PluginKind) -> PartSettings? {
            part?.nested.first { $0.plugin.kind == kind }.map { PartSettings($0) }
        }
        (records, pull, push) = (part.map { PartSettings($0) }, nested(.puller), nested(.pusher))
    }

    mutating func find(_ verdict: ProbeFinding.Verdict, _ text: String, at setting: String? = nil) {
        findings.append(ProbeFinding(verdict: verdict, text: text, setting: setting))
    }

    /// Counts a call.
    func countCall() {
        onCall(
            calls.withLock { calls in
                calls += 1
                return calls
            })
    }

    // MARK: Fetching

    /// Asks for records as a pull does.
    mutating func read() async {
        guard let puller = service.puller else { return find(.lacks, "records are never fetched", at: "records.pull") }
        let firstPage: ProbedPage
        do { firstPage = try await page(puller, position: nil, cursor: nil) } catch {
            return find(.wrong, "the first page: " + Self.reason(error), at: setting(for: error))
        }
        first = firstPage
        find(.ok, "the first page has \(counted(firstPage.page.records.count, one: "record"))")
        checkRecords(firstPage.page.records)
        let pages = await follow(firstPage, puller)
        position = pages.lazy.compactMap(\.page.position).first
        if pages.last?.page.next == nil {
            ids = Set(pages.flatMap { $0.page.records.compactMap { $0[service.id]?.name } })
        }
        checkTime(firstPage)
        await checkPosition(puller, after: pages)
        checkDeletions()
        await checkForgottenPosition(puller)
        await checkLookup(firstPage.page.records)
    }

    /// Asks for a page, and keeps the answer.
    func page(_ puller: any Puller, position: String?, cursor: String?) async throws -> ProbedPage {
        let answer = Locked<JSONText?>(nil)
        let asked = service.question(position: position, cursor: cursor)
        countCall()
        let question = PullQuestion(
            position: position, cursor: cursor, limit: asked.limit, account: asked.account, id: asked.id,
            updatedAt: asked.updatedAt, now: asked.now, takes: asked.takes
        ) { parameters in
            let entry = try await asked.fetch(parameters)
            answer.withLock { $0 = try? JSONText(entry.payload.bytes) }
            return entry
        }
        return ProbedPage(page: try await puller.page(question), answer: answer.withLock { $0 })
    }

    /// Follows the pages to the last one, and returns all of them.
    private mutating func follow(_ first: ProbedPage, _ puller: any Puller) async -> [ProbedPage] {
        var (pages, cursors): ([ProbedPage], Set<String>) = ([first], [])
        while let cursor = pages.last?.page.next {
            guard cursors.insert(cursor).inserted else {
                find(.wrong, "the pages lead in a circle: a cursor came twice", at: "records.pull.next")
                return pages
            }
            if pages.count == Self.mostPages {
                find(.ok, "there are more than \(Self.mostPages) pages; the rest is not asked for")
                return pages
            }
            do { pages.append(try await page(puller, position: nil, cursor: cursor)) } catch {
                find(.wrong, "page \(pages.count + 1): " + Self.reason(error), at: "records.pull.cursor")
                return pages
            }
        }
        if pages.count > 1, pages[1].page.records == first.page.records, !first.page.records.isEmpty {
            find(.wrong, "the second page is the first one again: the cursor has no effect", at: "records.pull.cursor")
        } else if pages.count == 1, rows(of: first) == service.limit, !tellsTheEnd(first) {
            let place = pull?["next"].map { $0.isEmpty ? "its top" : $0 }
            let missing = place.map { "has no cursor at \($0)" } ?? "tells of no other"
            find(
                .lacks, "a full page of \(service.limit) records \(missing): there may be more than are fetched",
                at: "records.pull.next")
        } else {
            let all = pages.reduce(0) { $0 + $1.page.records.count }
            find(
                .ok,
                "\(counted(pages.count, one: "page")) with \(counted(all, one: "record")) \(pages.count == 1 ? "leads" : "lead") to the end"
            )
        }
        return pages
    }

    /// Returns whether a page says that it is the last one, by a null or a flag at the place of the next one.
    private func tellsTheEnd(_ page: ProbedPage) -> Bool {
        ["next", "more"].contains { name in pull?[name].flatMap { JSONPointer($0) }.flatMap { page.answer?[$0] } != nil
        }
    }

    /// Returns the number of rows in the answer of a page, with those that tell deletions.
    private func rows(of page: ProbedPage) -> Int {
        let list = pull?["items"].flatMap { JSONPointer($0) }.flatMap { page.answer?[$0] }
        return list?.kind == .list ? list?.items.count ?? 0 : page.page.records.count
    }

    // MARK: Errors

    /// Returns an error in words, without that of a foreign one.
    static func reason(_ error: any Error) -> String {
        switch error {
        case PullError.malformed(let reason): reason
        case PullError.positionExpired: "the service does not know its own position"
        case let error as LoadError where error.status != nil:
            "the service answers with the status \(error.status ?? 0)"
        case is LoadError, is RecordError: "\(error)"
        default: LoadError.name(of: error)
        }
    }

    private func setting(for error: any Error) -> String? {
        guard case PullError.malformed(let reason) = error, !reason.contains("not JSON") else { return "origin" }
        for name in ["serverTime", "token", "more", "deleted", "next", "epoch"] {
            if let place = pull?[name], reason.contains("'\(place)'") { return "records.pull." + name }
        }
        return "records.pull.items"
    }
}

/// A page with the answer that it was in.
struct ProbedPage {
    let page: PullPage
    let answer: JSONText?
}
