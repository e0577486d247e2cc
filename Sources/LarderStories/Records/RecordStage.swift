import Larder
import LarderFoundation
import LarderSimulation
import LarderSync
import LarderSystem

/// The device of a history, whose process can end and start again.
final class RecordStage: Sendable {
    let service: SimulatedService
    private let resource: String
    private let reader: PolicyReader
    private let world: SimulatedWorld
    private let folder: TemporaryFolder
    private let state = Locked(State())

    private struct State {
        var process: SimulatedProcess?
        var pantry: Pantry?
        /// The changes of the user that were kept, in their order.
        var changes: [RecordHistory.Change] = []
        /// The id of the record that the user has made.
        var newID: String?
        /// The moment of the next call at which the process ends.
        var end: SimulatedService.Moment?
        var refusals: [String] = []
        var idle: [RecordStory.Step] = []
    }

    init(of resource: String, _ reader: PolicyReader, _ service: SimulatedService, in world: SimulatedWorld) throws {
        (self.resource, self.reader, self.service, self.world) = (resource, reader, service, world)
        folder = try TemporaryFolder.inMemory()
        service.onChange { [state] moment in
            let process = state.withLock { state -> SimulatedProcess? in
                guard state.end == moment else { return nil }
                state.end = nil
                return state.process
            }
            guard let process else { return }
            process.end()
            throw SimulatedProcess.Ended()
        }
    }

    private var records: Records<JSONText> {
        get throws {
            guard let pantry = state.withLock({ $0.pantry }) else { throw SimulatedProcess.Ended() }
            return pantry.records(resource)
        }
    }

    /// The promises of the policy; nil if it has none.
    var promises: Promises? { state.withLock { $0.pantry }?.attachment(Promises.self, of: resource) }

    /// Starts a process, in place of one that has ended.
    func open() async throws {
        let process = SimulatedProcess(world)
        let pantry = try await Pantry(
            reader: reader, cache: folder.url.appending(path: "cache"), data: folder.url.appending(path: "data"),
            world: process, removesUnused: false)
        state.withLock { ($0.process, $0.pantry) = (process, pantry) }
        service.dialect = pantry.serviceDialect(of: resource)
    }

    func close() async {
        let pantry = state.withLock { $0.pantry.take() }
        await pantry?.close()
    }

    /// Starts a process again if it has ended.
    private func reopen() async throws {
        guard state.withLock({ $0.process?.hasEnded }) == true else { return }
        let former = state.withLock { $0.pantry.take() }
        if let former { world.spawn { await former.close() } }
        try await open()
    }

    // MARK: Steps

    /// The id of the record that the service has from the beginning.
    private static let id = "r1"

    func play(_ story: RecordStory) async throws -> RecordHistory {
        service.put(Self.id, Self.values(["title": "first", "text": "first"]))
        do { try await records.sync() } catch let error as RecordError where error.code == .notSynced {}
        var start = now
        for (number, step) in story.steps.enumerated() {
            if step.isChange || step == .online { start = now }
            try await take(step, number)
            try await reopen()
        }
        if world.network == .offline { (start, world.network) = (now, NetworkState(.online)) }
        return try await end(since: start)
    }

    private func take(_ step: RecordStory.Step, _ number: Int) async throws {
        switch step {
        case .create, .update, .updateNew, .delete:
            do { try await change(step, "mine-\(number)") } catch is SimulatedProcess.Ended {
                // A process may end before its change is kept. Then nothing was promised.
            } catch let error as RecordError where error.code == .noRecord {
                state.withLock { $0.idle.append(step) }
            } catch let error as RecordError { state.withLock { $0.refusals.append(error.description) } }
        case .otherUpdates: service.put(Self.id, Self.values(["title": "theirs-\(number)"]))
        case .otherUpdatesElsewhere: service.put(Self.id, Self.values(["text": "theirs-\(number)"]))
        case .otherDeletes: service.delete(Self.id)
        case .otherCreates: service.put("r2", Self.values(["title": "theirs-\(number)", "text": "theirs"]))
        case .offline: world.network = .offline
        case .online: world.network = NetworkState(.online)
        case .callIsLost: service.trouble.append(.callIsLost)
        case .answerIsLost: service.trouble.append(.answerIsLost)
        case .fails: service.trouble.append(.status(503))
        case .busy: service.trouble.append(.status(429))
        case .loginPage: service.trouble.append(.loginPage)
        case .endsBeforeCall: state.withLock { $0.end = .call }
        case .endsBeforeAnswer: state.withLock { $0.end = .answer }
        case .restart:
            await close()
            try await open()
        case .minute: try await world.sleep(for: .seconds(60))
        }
    }

    private func change(_ step: RecordStory.Step, _ value: String) async throws {
        let records = try records
        var id = Self.id
        switch step {
        case .create:
            let made = try await records.create(Self.values(["title": value, "text": value]))
            id = made.id
            state.withLock { $0.newID = made.id }
        case .updateNew:
            guard let new = state.withLock({ $0.newID }) else { return state.withLock { $0.idle.append(step) } }
            id = new
            try await records.update(new) { $0 = $0.setting(["title"], to: JSONText(string: value)) }
        case .delete: try await records.delete(id)
        default: try await records.update(id) { $0 = $0.setting(["title"], to: JSONText(string: value)) }
        }
        state.withLock { $0.changes.append(RecordHistory.Change(id: id, value: step == .delete ? nil : value)) }
    }

    private static func values(_ texts: KeyValuePairs<String, String>) -> JSONText {
        JSONText(object: texts.map { ($0.key, JSONText(string: $0.value)) })
    }

    /// The time in milliseconds since 1970.
    private var now: Int64 { world.now.nanoseconds / 1_000_000 }

    // MARK: The end

    /// The longest time for which changes may wait at the end.
    private static let longestWait = Duration.seconds(86_400)

    private func end(since start: Int64) async throws -> RecordHistory {
        let limit = world.uptime + Self.longestWait
        while world.uptime < limit {
            try await world.sleep(for: .seconds(10))
            try await reopen()
            if try await waitingCount() == 0 { break }
        }
        var history = try await history(since: start)
        if !history.differences.isEmpty, let pause = service.dialect?.fullPulls, pause < .forever {
            // Some deletions are noticed only when everything is fetched. Until then the app is closed, and asks for nothing.
            await close()
            try await world.sleep(for: pause + .seconds(3_600))
            try await open()
            history = try await self.history(since: start)
        }
        return history
    }

    private func history(since start: Int64) async throws -> RecordHistory {
        let records = try records
        do { try await records.sync() } catch is RecordError {} catch is LoadError {}
        let waiting = try await waitingCount()
        let letters = try await records.rejected().map { letter in
            let change = letter.pushed
            let title =
                change.kind == .create
                ? change.record?[["title"]] : change.fields.first { $0.place.steps == ["title"] }?.after
            return RecordHistory.Change(id: letter.id, value: change.kind == .delete ? nil : title?.string ?? "")
        }
        let shown = try await records.query().records
        var differences: [RecordBreach] = []
        let theirs = service.records
        for record in shown where record.state == .synced {
            guard let other = theirs[record.id] else {
                differences.append(
                    RecordBreach(
                        "a record is shown that the service has no more",
                        remedy: "let pages tell deletions (\"deleted\" or \"tombstone\"), or fetch everything now and "
                            + "then (\"full\": \"7d\")"))
                continue
            }
            if !other.means(record.value) {
                differences.append(RecordBreach("a record is shown otherwise than the service has it"))
            }
        }
        let ids = Set(shown.map(\.id))
        if theirs.keys.contains(where: { !ids.contains($0) }) {
            differences.append(RecordBreach("a record of the service is not shown"))
        }
        let (changes, refusals, idle) = state.withLock { ($0.changes, $0.refusals, $0.idle) }
        return RecordHistory(
            changes: changes, made: service.made, letters: letters, waiting: waiting, refusals: refusals,
            idle: idle + unusedTroubles, misunderstood: service.misunderstood, differences: differences, start: start)
    }

    /// The number of changes that wait, besides those about which the app must decide.
    private func waitingCount() async throws -> Int {
        try await records.waiting().count { $0.waitsFor != .decision }
    }

    /// The troubles that no call has had.
    private var unusedTroubles: [RecordStory.Step] {
        let end: RecordStory.Step? =
            switch state.withLock({ $0.end }) {
            case .call: .endsBeforeCall
            case .answer: .endsBeforeAnswer
            case nil: nil
            }
        return service.trouble.map(RecordStory.Step.init) + [end].compactMap(\.self)
    }
}
