import Larder
import LarderSimulation
import LarderSync
import LarderSystem

/// The cases of ``SyncBench`` for profilers.
extension SyncBench {
    static let loops: [LoopBench.Loop] = [
        LoopBench.Loop(name: "bare-create", summary: "a new row in bare SQLite, in groups of \(group)") {
            let folder = try TemporaryFolder()
            let bare = try BareRecords(in: folder)
            return LoopBench.looping { place in
                if place % group == 0 { try bare.put(group, inGroupsOf: group) }
                withExtendedLifetime(folder) {}
            }
        },
        LoopBench.Loop(name: "record-create", summary: "a new record, in groups of \(group) in one transaction") {
            let folder = try TemporaryFolder()
            let pantry = try await SyncBench.pantry(in: folder)
            let notes = pantry.records("notes")
            return LoopBench.looping { place in
                guard place % group == 0 else { return }
                try await pantry.write { changes in
                    for number in place..<(place + group) { _ = try changes.create(record(number), in: notes) }
                }
                withExtendedLifetime(folder) {}
            }
        },
        LoopBench.Loop(name: "bare-records", summary: "50 of 10,000 rows by an index of bare SQLite") {
            let folder = try TemporaryFolder()
            let bare = try BareRecords(in: folder)
            try bare.put(group, inGroupsOf: group)
            return LoopBench.looping { _ in
                keep(try bare.latest(50))
                withExtendedLifetime(folder) {}
            }
        },
        LoopBench.Loop(name: "record-query", summary: "a query for 50 of 10,000 records by an index") {
            let folder = try TemporaryFolder()
            let notes = try await pantry(in: folder).records("notes")
            try await fill(notes, group)
            return LoopBench.looping { _ in
                keep(try await notes.query(latest))
                withExtendedLifetime(folder) {}
            }
        },
    ]
}
