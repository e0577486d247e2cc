// It sees what only the tests of a module see, so an ordinary optimised build leaves it out.
#if DEBUG || TESTABLE
    import Larder
    import LarderSystem
    import Synchronization
    @testable import LarderSync

    /// Flips bits in copies of a database, one in each, and looks what became of them.
    ///
    /// Prints `wrong PLACE WHY` if a changed record or write was taken for a right one, even by a check of the whole file, or if the
    /// database cannot be used any more; and `lost PLACE COUNT` if more writes were lost than a page holds.
    /// The last line is `flips COUNT noticed COUNT lost COUNT`: how many were flipped, how many of those were noticed, and how many
    /// writes were lost at most by one of them.
    struct BitFlips {
        /// A page holds no more writes. It is lost as a whole if its beginning is damaged.
        private static let mostOnPage = 8

        private let folder: String
        private var dice: Dice

        init(in folder: String, seed: UInt64) { (self.folder, dice) = (folder, Dice(state: seed)) }

        mutating func run(count: Int) throws {
            let notes = Notes(in: folder)
            let expected = try Dump(of: notes).contents()
            _ = try notes.database.file.writing { try notes.database.file.copyLog($0, .wholeAfterReaders) }
            notes.database.close()
            let bytes = try Disk.read(folder + "/records.sqlite", limit: 1 << 30)
            var (noticed, lost) = (0, 0)
            for _ in 0..<count {
                let place = dice.roll(bytes.count * 8)
                var flipped = bytes
                flipped[place / 8] ^= 1 << (place % 8)
                let result = look(at: flipped, expected)
                if result.isNoticed { noticed += 1 }
                lost = max(lost, result.lost)
                if result.lost > Self.mostOnPage { SyncRun.say("lost \(place) \(result.lost)") }
                if let why = result.wrong { SyncRun.say("wrong \(place) \(why)") }
            }
            SyncRun.say("flips \(count) noticed \(noticed) lost \(lost)")
        }

        private struct Result {
            var isNoticed = false
            /// The number of lost writes.
            var lost = 0
            var wrong: String?
        }

        private func look(at bytes: [UInt8], _ expected: Dump.Contents) -> Result {
            var result = Result()
            let copy = folder + "/flipped-" + Disk.randomName()
            defer { remove(copy) }
            do {
                try Disk.makeFolder(copy)
                try bytes.withUnsafeBytes { try Disk.create(copy + "/records.sqlite", with: $0) }
            } catch {
                result.wrong = "cannot be copied: \(error)"
                return result
            }
            let notes = Notes(in: copy)
            defer { notes.database.close() }
            do {
                let found = try Dump(of: notes).contents()
                if found != expected {
                    // A row that an index lacks is noticed by a check of the whole file only.
                    if try notes.database.verify() { result.wrong = difference(found, expected) }
                    result.isNoticed = true
                }
            } catch { result.isNoticed = true }
            if !isUsable(notes) { result.wrong = "no change is kept any more" }
            if (try? Dump(of: notes).contents()) == nil {
                // The page was damaged further by the change. Whoever reads notices it, and the next change makes it good.
                result.isNoticed = true
                if !isUsable(notes) { result.wrong = "no change is kept any more" }
            }
            if notes.damages.count.load(ordering: .relaxed) > 0 { result.isNoticed = true }
            do {
                let found = try Dump(of: notes).contents()
                let writes = found.writes.filter { expected.writes[$0.key] != nil }
                result.lost = expected.writes.count - writes.count
                if let wrong = writes.first(where: { $0.value != expected.writes[$0.key] }) {
                    result.wrong = "write \(wrong.key) is another one"
                }
                if result.lost > 0, !result.isNoticed { result.wrong = "\(result.lost) writes are lost" }
                for line in found.lines where line.hasPrefix("books") {
                    // Lost writes may stay unaccounted for.
                    let numbers = line.split(separator: " ").suffix(3).compactMap { Int($0) }
                    if numbers.count != 3 || !(0...result.lost).contains(numbers[0]) || numbers[1] != numbers[2] {
                        result.wrong = line
                    }
                }
                // A record is seen again if its deletion is what was lost.
                var lostDeletions = expected.writes.values.count {
                    $0.kind == .delete && found.writes[$0.number] == nil
                }
                let other = found.records.first { id, record in
                    if let before = expected.records[id], result.lost == 0 { return record != before }
                    if id.hasPrefix("after") { return false }
                    if expected.records[id] == nil {
                        lostDeletions -= 1
                        if lostDeletions < 0 { return true }
                    }
                    return Notes.token(of: record, of: id) == nil
                }
                if let other { result.wrong = "\(other.key) is another one" }
            } catch { result.wrong = "cannot be read any more: \(error)" }
            return result
        }

        /// Makes a change. The one that notices damage may fail. The next one begins a new database.
        private func isUsable(_ notes: Notes) -> Bool {
            (1...2).contains { number in (try? notes.write("after", "\(number)", in: Notes.table("after"))) != nil }
        }

        private func difference(_ found: Dump.Contents, _ expected: Dump.Contents) -> String {
            if found.writes != expected.writes { return "\(found.writes.count) of \(expected.writes.count) writes" }
            if found.records != expected.records {
                let other = expected.records.filter { found.records[$0.key] != $0.value }.keys.sorted().prefix(3)
                return
                    "\(found.records.count) of \(expected.records.count) records, not \(other.joined(separator: ", "))"
            }
            let lines = zip(found.lines, expected.lines).first { $0 != $1 }
            return lines.map { "\($0.0) instead of \($0.1)" } ?? "other tables"
        }

        private func remove(_ folder: String) {
            for item in (try? Disk.list(folder)) ?? [] {
                if item.isFolder {
                    remove(folder + "/" + item.name)
                } else {
                    try? Disk.remove(folder + "/" + item.name)
                }
            }
            try? Disk.remove(folder)
        }
    }
#endif
