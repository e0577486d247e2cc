import Larder

@testable import LarderSync

/// A device with what it keeps, and what is on its way.
struct ModelDevice: Hashable, Sendable {
    struct Name: Hashable, Sendable {
        var former: String
        var record: Int64
    }

    /// A request that was sent, and its answer.
    struct Call: Hashable, Sendable {
        var request: ModelRequest
        var outcome: WriteOutcome?
    }

    // MARK: What is kept

    var rows: [RecordRow] = []
    var names: [Name] = []
    var pull = PullState()
    /// The number of the last event, write or row.
    var sequence: Int64 = 1_000
    var keys = 0
    var edition = 1
    var isSignedIn = true

    // MARK: What is on its way

    var calls: [Call] = []
    var page: PulledPage?
    /// The records of the service when the pull began, if its pages are all of one time.
    var snapshot: [ModelService.Record] = []

    // MARK: What the app knows

    /// The number of writes of the script that were made.
    var step = 0
    /// The ids that creates returned, by the place of the record.
    var created: [Int: String] = [:]

    func place(_ number: Int64) -> Int? { rows.firstIndex { $0.number == number } }

    /// Returns the place of the row of an id, or of a former one.
    func place(of id: String) -> Int? {
        if let place = rows.firstIndex(where: { $0.id == id }) { return place }
        return names.first { $0.former == id }.flatMap { place($0.record) }
    }

    mutating func put(_ row: RecordRow) {
        if let place = place(row.number) {
            if row.isGone { rows.remove(at: place) } else { rows[place] = row }
        } else if !row.isGone {
            rows.append(row)
        }
    }

    /// Returns the device without what makes no difference to what can happen.
    var normalized: ModelDevice {
        var device = self
        let began = pull.run?.began ?? .max
        device.pull.completedAt = nil
        device.pull.run?.began = 1
        var generations = Set(rows.map(\.generation))
        generations.formUnion([pull.generation, pull.suspected ?? 0])
        let ranks = generations.sorted()
        func rank(_ generation: Int64) -> Int64 { Int64(ranks.firstIndex(of: generation) ?? 0) }
        device.pull.generation = rank(pull.generation)
        device.pull.suspected = pull.suspected.map(rank)
        for place in rows.indices {
            device.rows[place].answered = rows[place].answered > began ? 1 : 0
            device.rows[place].generation = rank(rows[place].generation)
            device.rows[place].receivedAt = 0
            for write in rows[place].writes.indices {
                device.rows[place].writes[write].next = 0
                device.rows[place].writes[write].tries = min(rows[place].writes[write].tries, 2)
                if case .accepted(let at) = rows[place].writes[write].status {
                    device.rows[place].writes[write].status = .accepted(at: at < began ? 0 : 1)
                }
            }
        }
        device.sequence = 0
        return device
    }
}

/// Makes keys that no write of a device has had.
///
/// It is used by one thread: a step of the model makes it, and forgets it.
final class ModelKeys: @unchecked Sendable {
    var made: Int
    let device: Int

    init(device: Int, made: Int) { (self.device, self.made) = (device, made) }

    func next() -> String {
        made += 1
        return "d\(device)k\(made)"
    }
}
