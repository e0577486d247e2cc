// It sees what only the tests of a module see, so an ordinary optimised build leaves it out.
#if DEBUG || TESTABLE
    import Larder
    import LarderSystem
    import Synchronization
    @testable import LarderSync

    /// The records of the runs: notes, which come in groups that are changed together, and a feed, which is only pulled.
    struct Notes: Sendable {
        /// The records of a group.
        static let groupSize = 4
        /// The records of a page of the feed.
        static let pageSize = 40

        let folder: String
        let database: RecordDatabase
        private let listening: Subscription
        /// The number of times that a damaged file was set aside.
        let damages: DamageCounter

        final class DamageCounter: Sendable { let count = Atomic(0) }

        init(in folder: String) {
            self.folder = folder
            let damages = DamageCounter()
            self.damages = damages
            database = RecordDatabase(folder + "/records.sqlite", in: SystemWorld()) { try Disk.makeFolder(folder) }
            listening = database.damages.add { damages.count.add(1, ordering: .relaxed) }
        }

        var planner: SyncPlanner { SyncPlanner(SyncRules(idPath: ["id"], source: "notes")) }

        /// The notes of one writer, or of both.
        static func table(_ name: String) -> RecordTable { RecordTable(resource: "notes", scope: name) }
        static func feed(_ name: String) -> RecordTable { RecordTable(resource: "feed", scope: name) }

        /// Returns the record of an id and a token. Its text follows from both, so wrong bytes are noticed.
        static func record(_ id: String, _ token: String) -> JSONText {
            let size = token.utf8.reduce(0) { ($0 * 31 + Int($1)) % 1_900 }
            let text = String(repeating: "\(id) \(token) ", count: size / 12 + 1)
            return JSONText(
                .object([.init("id", .string(id)), .init("token", .string(token)), .init("text", .string(text))]))
        }

        /// Returns the token of a record; nil if the record is not what its token says.
        ///
        /// - Parameter name: the account and the id.
        static func token(of record: JSONText, of name: String) -> String? {
            guard let id = name.split(separator: " ").last.map(String.init), let token = record["token"]?.string,
                record.means(Self.record(id, token))
            else { return nil }
            return token
        }

        // MARK: Changes

        func change(
            _ table: RecordTable, _ durability: RecordDatabase.Durability = .power,
            _ body: (RecordDecisions) throws -> Void
        ) throws {
            try database.changing(durability) { transaction in
                try body(try RecordDecisions(transaction, table, planner))
            }
        }

        /// Gives all records of a group a token, or deletes them.
        func write(_ group: String, _ token: String?, in table: RecordTable) throws {
            try change(table) { decisions in
                for number in 0..<Self.groupSize {
                    let id = "\(group)-\(number)"
                    if let token {
                        try decisions.write(.put(Self.record(id, token)), id: id, random: database.world.random)
                    } else {
                        do { try decisions.write(.delete, id: id, random: database.world.random) } catch WriteRefusal
                            .noRecord
                        {}
                    }
                }
            }
        }

        /// Makes a change that is nobody else's. The one that notices damage may fail, and the next one makes it good.
        func probe() throws {
            do { try write("probe", "1", in: Self.table("probe")) } catch let failure as SQLiteFailure
                where failure == .damaged
            { try write("probe", "2", in: Self.table("probe")) }
        }

        /// Sends what waits to a service that answers at random. One process does it at a time.
        func push(_ table: RecordTable, _ dice: inout Dice) throws {
            try Disk.makeFolder(folder)
            try Disk.locked(folder + "/records-run") {
                var claimed: [ClaimedWrite] = []
                let most = 1 + dice.roll(20)
                try change(table) { decisions in
                    try decisions.reopen()
                    claimed = try decisions.claim(most: most)
                }
                let outcomes = claimed.map { write -> WriteOutcome in
                    switch dice.roll(8) {
                    case 0: .unknown
                    case 1: .later(1)
                    case 2: .accepted(nil)
                    default: .accepted(write.write.kind == .delete ? nil : write.shown)
                    }
                }
                try change(table) { decisions in
                    for (write, outcome) in zip(claimed, outcomes) { try decisions.settle(outcome, of: write) }
                }
            }
        }

        /// Pulls a page in which all records of a block have a token.
        func pull(_ name: String, block: Int, _ token: String) throws {
            let page = PulledPage(
                records: (0..<Self.pageSize).map { number in
                    let id = "f-\(block)-\(number)"
                    return PulledRecord(id: id, idText: JSONText(string: id), record: Self.record(id, token))
                }, position: token)
            try change(Self.feed(name), .process) { decisions in
                _ = try decisions.beginPull()
                try decisions.merge(page)
            }
        }
    }
#endif
