import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

/// Random histories in the database and in a dictionary: both ask the same planner, so both must have the same rows.
struct RecordHistoryTests {
    /// The seeds of the histories: more in a long run. Two have found a mistake that is mended: a change stayed unsettled whose
    /// record became one with another while it was sent.
    private static let seeds =
        ProcessInfo.processInfo.environment["LARDER_SEEDS"] == nil ? Array(0..<12) + [44, 188] : Array(0..<200)

    @Test(arguments: Self.seeds) func databaseHasTheRowsOfTheModel(seed: Int) throws {
        let history = try RecordHistory(seed: UInt64(seed))
        for step in 0..<60 {
            let name = try history.step()
            let (kept, expected) = try (history.keptRows(), history.model.comparableRows)
            #expect(kept == expected, "step \(step): \(name)")
            let facts = try history.database.facts(of: history.table)
            #expect(facts.books == history.model.books, "step \(step): \(name)")
            #expect(facts.books.unaccounted == 0)
            #expect(facts.books.pending == kept.values.reduce(0) { $0 + $1.writes.filter(\.isPending).count })
            #expect(facts.pull == history.model.pull, "step \(step): \(name)")
            if kept != expected { return }
        }
    }
}

/// The rows of one table in memory.
private final class ModelTable {
    init(planner: SyncPlanner) { self.planner = planner }

    let planner: SyncPlanner
    var rows: [String: RecordRow] = [:]
    var names: [String: String] = [:]
    var books = Books()
    var pull = PullState()
    var staleRows = 0

    /// The rows without what is different in a database: its numbers and random keys.
    var comparableRows: [String: RecordRow] { rows.mapValues(\.comparable) }

    func id(_ id: String) -> String { rows[id] == nil ? names[id] ?? id : id }

    func decide(
        _ id: String, _ moment: inout SyncMoment,
        _ body: (inout RecordRow, inout SyncMoment, inout SyncEffects) throws -> Void
    ) rethrows {
        guard var row = rows[id] else { return }
        var effects = SyncEffects()
        try body(&row, &moment, &effects)
        keep(row, after: id, effects, &moment)
    }

    func keep(_ row: RecordRow, after former: String?, _ effects: SyncEffects, _ moment: inout SyncMoment) {
        var row = row
        if let former { rows[former] = nil }
        if !effects.renamed.isEmpty, let pulled = rows.removeValue(forKey: row.id) {
            var more = SyncEffects()
            planner.absorb(pulled, into: &row, at: &moment, &more)
            books = books + more.books
        }
        if !row.isGone { rows[row.id] = row }
        books = books + effects.books
        staleRows += effects.staleRows
        for renaming in effects.renamed {
            names[renaming.former] = row.id
            for id in rows.keys.sorted() {
                if var other = rows[id], planner.rename(renaming, in: &other) { rows[id] = other }
            }
        }
        for temporary in effects.gone.sorted() {
            for id in rows.keys.sorted() where refers(id, to: temporary) { giveUp(id, needing: temporary, &moment) }
        }
    }

    private func refers(_ id: String, to temporary: String) -> Bool {
        rows[id]?.writes.contains { planner.references(of: $0).contains(temporary) } ?? false
    }

    private func giveUp(_ id: String, needing temporary: String, _ moment: inout SyncMoment) {
        guard var row = rows[id] else { return }
        var effects = SyncEffects()
        planner.giveUpNeeding([temporary], in: &row, at: &moment, &effects)
        keep(row, after: id, effects, &moment)
    }
}

extension RecordRow {
    fileprivate var comparable: RecordRow {
        var row = self
        row.number = 0
        for place in row.writes.indices { row.writes[place].key = "" }
        return row
    }
}

private final class RecordHistory {
    let table = RecordTable(resource: "notes", scope: nil)
    let world: SimulatedWorld
    let planner: SyncPlanner
    private(set) var model: ModelTable
    private(set) var database: RecordDatabase
    private let folder: TemporaryFolder
    private var random: SeededGenerator
    private var claimed: [ClaimedWrite] = []
    private var next = 0

    init(seed: UInt64) throws {
        folder = try TemporaryFolder()
        world = SimulatedWorld(seed: seed)
        random = SeededGenerator(seed: seed)
        var rules = SyncRules(idPath: ["id"], ids: seed % 2 == 0 ? .server : .client, source: "service")
        if seed % 3 == 0 { rules.stamp = StampPlace(path: ["at"], format: .milliseconds) }
        if seed % 5 == 0 { rules.versionPath = ["version"] }
        rules.versionsIncrease = seed % 10 == 0
        rules.merges = seed % 7 != 0
        rules.onReject = seed % 4 == 0 ? .keep : .revert
        rules.unions = [["tags"]]
        planner = SyncPlanner(rules)
        model = ModelTable(planner: planner)
        database = RecordDatabase(folder.path + "/records.sqlite", in: world)
    }

    func keptRows() throws -> [String: RecordRow] {
        try database.reading { connection in
            guard let tableNumber = try database.number(of: table, connection) else { return [:] }
            var rows: [String: RecordRow] = [:]
            var numbers: [Int64] = []
            try connection.each("SELECT n FROM records WHERE t=?", .integer(tableNumber)) {
                numbers.append($0.integer(0))
                return true
            }
            for number in numbers {
                guard let kept = try connection.keptRow(number, of: tableNumber) else { continue }
                var row = kept.row
                row.writes = try connection.writes(of: number)
                if kept.state == .rejected { row.rejected = kept.shown }
                rows[row.id] = row.comparable
            }
            return rows
        }
    }

    private func pick<Element>(_ list: [Element]) -> Element? {
        list.isEmpty ? nil : list[Int(random.next() % UInt64(list.count))]
    }

    private func json(_ text: String) -> JSONText { (try? JSONText(text.utf8)) ?? .null }

    private var ids: [String] { model.rows.keys.sorted() }

    /// Does the same in the database and in the model.
    private func both(
        _ database: (RecordDecisions) throws -> Void,
        _ model: (ModelTable, inout SyncMoment) throws -> Void
    ) throws {
        let before = try self.database.reading {
            try $0.first("SELECT number FROM tables WHERE n=0") { $0.integer(0) }
        }
        try self.database.changing(.process) { transaction in
            try database(RecordDecisions(transaction, table, planner))
        }
        var moment = SyncMoment(now: world.now.milliseconds, sequence: before ?? 0) { "" }
        try model(self.model, &moment)
    }

    func step() throws -> String {
        next += 1
        let choice = random.next() % 14
        switch choice {
        case 0, 1: return try create()
        case 2, 3: return try update()
        case 4: return try delete()
        case 5, 6: return try claim()
        case 7, 8, 9: return try settle()
        case 10, 11: return try pull()
        case 12:
            database.close()
            database = RecordDatabase(folder.path + "/records.sqlite", in: world)
            return "open again"
        default:
            guard next % 3 == 0 else { return "nothing" }
            try both({ try $0.clear(discardingUnsent: false) }) { model, _ in
                for id in model.rows.keys.sorted() {
                    guard var row = model.rows[id] else { continue }
                    model.planner.forgetBase(&row)
                    model.rows[id] = row.isGone ? nil : row
                }
                model.names = model.names.filter { model.rows[$0.value] != nil }
                model.pull = PullState()
            }
            return "clear"
        }
    }

    private func create() throws -> String {
        var content = json(#"{"title":"t\#(next)","at":0,"tags":["a"]}"#)
        let temporary = ids.filter(TemporaryID.isOne)
        if random.next() % 3 == 0, let other = pick(temporary) {
            content = content.setting(["other"], to: JSONText(string: other))
        }
        let id =
            planner.rules.ids == .client
            ? "c\(random.next() % 6)" : TemporaryID.make { self.random.next() }
        if planner.rules.ids == .client { content = content.setting(["id"], to: JSONText(string: id)) }
        return try write(.put(content), id) ? "create" : "create refused"
    }

    private func update() throws -> String {
        guard let id = pick(ids), let shown = model.rows[id].flatMap(planner.shown) else { return "no record" }
        let field = random.next() % 2 == 0 ? "title" : "text"
        let value = random.next() % 4 == 0 ? nil : JSONText(string: "v\(random.next() % 3)")
        return try write(.update(from: shown, to: shown.setting([field], to: value)), id) ? "update" : "update refused"
    }

    private func delete() throws -> String {
        guard let id = pick(ids) else { return "no record" }
        return try write(.delete, id) ? "delete" : "delete refused"
    }

    private func write(_ intent: RecordIntent, _ id: String) throws -> Bool {
        do {
            try both({ try $0.write(intent, id: id, random: { 0 }) }) { model, moment in
                var row = model.rows[model.id(id)] ?? RecordRow(number: 0, id: id, idText: JSONText(string: id))
                let former = model.rows[model.id(id)] == nil ? nil : model.id(id)
                var effects = SyncEffects()
                let number = moment.next()
                guard try model.planner.write(intent, to: &row, number: number, at: &moment, &effects) else { return }
                model.keep(row, after: former, effects, &moment)
            }
            return true
        } catch is WriteRefusal { return false }
    }

    private func claim() throws -> String {
        var now: [ClaimedWrite] = []
        try both({ now = try $0.claim(most: 2) }) { model, moment in
            let waiting = model.rows.values.filter { !$0.writes.isEmpty }
                .sorted { ($0.writes.map(\.number).min() ?? 0) < ($1.writes.map(\.number).min() ?? 0) }
            var count = 0
            // Writes that were never tried come first.
            for (row, isFirstTry) in waiting.map({ ($0, true) }) + waiting.map({ ($0, false) }) where count < 2 {
                let planner = model.planner
                model.decide(row.id, &moment) { row, moment, effects in
                    planner.expire(&row, at: &moment, &effects)
                    guard case .send(let number) = planner.nextStep(of: row, at: moment.now),
                        let place = row.writes.firstIndex(where: { $0.number == number }),
                        (row.writes[place].tries == 0) == isFirstTry
                    else { return }
                    planner.claim(&row.writes[place], at: row.version, &effects)
                    count += 1
                }
            }
        }
        claimed += now
        return "claim"
    }

    private func settle() throws -> String {
        guard !claimed.isEmpty else { return "nothing claimed" }
        let write = claimed.remove(at: Int(random.next() % UInt64(claimed.count)))
        let name = write.idText.name ?? ""
        let id = TemporaryID.isOne(name) ? "s\(random.next() % 8)" : name
        let record = (write.shown ?? json("{}")).setting(["id"], to: JSONText(string: id))
            .setting(["version"], to: JSONText(integer: Int64(next)))
        let theirs = record.setting(["title"], to: JSONText(string: "theirs"))
        let outcomes: [WriteOutcome] = [
            .accepted(record), .accepted(record), .accepted(nil), .conflict(theirs), .conflictWithDeletion,
            .rejected(status: 422), .later(), .unknown,
        ]
        let outcome = pick(outcomes) ?? .unknown
        try both({ try $0.settle(outcome, of: write) }) { model, moment in
            let rows = model.rows.values
            let settled = rows.first { row in row.writes.contains { $0.number == write.write.number } }
            guard let id = settled?.id else { return }
            let planner = model.planner
            model.decide(id, &moment) { row, moment, effects in
                planner.settle(outcome, of: write.write.number, in: &row, at: &moment, &effects)
            }
        }
        return "settle \(outcome)"
    }

    private func pull() throws -> String {
        let isFull = random.next() % 3 == 0
        let records: [PulledRecord] = (0..<(random.next() % 4)).map { _ in
            let id = (planner.rules.ids == .client ? "c" : "s") + "\(random.next() % 8)"
            let record = json(
                #"{"id":"\#(id)","title":"p\#(random.next() % 3)","version":\#(random.next() % 5),"at":\#(random.next() % 9)}"#
            )
            return PulledRecord(id: id, idText: JSONText(string: id), record: record)
        }
        let unique = records.filter { record in records.first { $0.id == record.id } == record }
        let deleted = random.next() % 2 == 0 ? pick(ids.filter { !TemporaryID.isOne($0) }).map { [$0] } ?? [] : []
        let page = PulledPage(
            records: unique, deleted: deleted, next: random.next() % 3 == 0 ? "c\(next)" : nil, position: "p\(next)")
        try both({ decisions in
            _ = try decisions.beginPull(isFull: isFull)
            _ = try decisions.merge(page)
        }) { model, moment in
            model.planner.beginPull(&model.pull, isFull: isFull, at: &moment)
            try model.merge(page, &moment)
        }
        return "pull \(page)"
    }
}

extension ModelTable {
    fileprivate func merge(_ page: PulledPage, _ moment: inout SyncMoment) throws {
        try planner.check(page, pull)
        let (state, planner, before) = (pull, planner, staleRows)
        for record in page.records {
            if rows[record.id] == nil {
                rows[record.id] = RecordRow(number: 0, id: record.id, idText: record.idText)
            }
            decide(record.id, &moment) { planner.merge(record, into: &$0, state, at: &$1, &$2) }
        }
        for id in page.deleted { decide(id, &moment) { planner.mergeDeletion(into: &$0, state, at: &$1, &$2) } }
        planner.turn(page, &pull, staleRows: staleRows - before)
        guard page.isLast else { return }
        let ended = pull
        for id in rows.keys.sorted() { decide(id, &moment) { row, _, _ in planner.fold(&row, ended) } }
        let based = rows.values.filter { $0.base != nil }
        let missing = based.filter { planner.isSwept($0, before: ended.generation, ended) }
        let twice = based.filter { planner.isSwept($0, before: ended.suspected ?? 0, ended) }
        var effects = SyncEffects()
        let sweep =
            ended.run?.isFull == true
            ? planner.sweep(ended, missing: missing.count, missingTwice: twice.count, of: based.count) : .nothing
        if case .delete(let generation) = sweep {
            for row in based.sorted(by: { $0.id < $1.id }) where planner.isSwept(row, before: generation, ended) {
                decide(row.id, &moment) { planner.mergeDeletion(into: &$0, ended, at: &$1, &$2) }
            }
        }
        planner.endPull(&pull, sweep, at: &moment, &effects)
    }
}
