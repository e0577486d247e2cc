import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem

@testable import LarderSync

/// A device with its folder, and the process that runs on it.
final class WorldDevice: Sendable {
    struct Process {
        var world: SimulatedProcess
        var pantry: Pantry
        var subscription: Subscription?
    }

    /// The events of a record, as the app was told.
    struct Told: Sendable {
        var id: String?
        var kind: SyncEvent.Kind
        var write: Int
    }

    struct State {
        var process: Process?
        var account: String? = "alice"
        var source = "here"
        var gather = "300ms"
        var told: [Told] = []
        /// The names that services gave, by the temporary ids.
        var names: [String: String] = [:]
    }

    let number: Int
    let network: WorldNetwork
    let state = Locked(State())
    private let folder: URL
    /// The number of the last write of the test.
    let lastWrite: Locked<Int>

    init(_ number: Int, in folder: URL, _ network: WorldNetwork, _ lastWrite: Locked<Int>) throws {
        (self.number, self.network, self.lastWrite) = (number, network, lastWrite)
        self.folder = folder.appending(path: "\(number)")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
    }

    private var policies: URL { folder.appending(path: "policies") }

    var hasEnded: Bool { state.withLock { $0.process?.world.hasEnded ?? true } }

    var pantry: Pantry {
        get throws {
            guard let process = state.withLock({ $0.process }) else { throw SimulatedProcess.Ended() }
            return process.pantry
        }
    }

    var notes: Records<JSONText> { get throws { try pantry.records("notes") } }

    private func writePolicy() throws {
        let (source, gather) = state.withLock { ($0.source, $0.gather) }
        let text = network.rules.policy(source: source, gather: gather)
        try Data(text.utf8).write(to: policies.appending(path: "notes.json"))
    }

    /// Starts a process, in place of one that has ended.
    func open() async throws {
        let former = state.withLock { state in
            defer { state.process = nil }
            return state.process
        }
        if let former { network.base.spawn { await former.pantry.close() } }
        try writePolicy()
        while true {
            let world = SimulatedProcess(network.base, clock: network.rules.clocks[number]) {
                [network, number] name, process in
                if name.hasSuffix("/records.sqlite") { network.point("a commit", of: process, number) }
            }
            do {
                let pantry = try await Pantry(
                    policies: policies, registry: registry(world), cache: folder.appending(path: "cache"),
                    data: folder.appending(path: "data"), environment: [:], world: world)
                let process = Process(world: world, pantry: pantry, subscription: listen(to: pantry))
                state.withLock { $0.process = process }
                return
            } catch { if !world.hasEnded { throw error } }
        }
    }

    /// Ends the process, and starts another one.
    func restart() async throws {
        await close()
        try await open()
    }

    /// Ends the process.
    func close() async {
        let process = state.withLock { state in
            defer { state.process = nil }
            return state.process
        }
        await process?.pantry.close()
    }

    func change(source: String? = nil, gather: String? = nil) async throws {
        state.withLock { state in
            state.source = source ?? state.source
            state.gather = gather ?? state.gather
        }
        try writePolicy()
        try await pantry.reload()
    }

    private func registry(_ process: SimulatedProcess) throws -> Registry {
        try Registry.standard.adding(.sync).adding([
            Plugin.origin(
                "world", "A service of the test.",
                Setting("at", .text, default: "here", help: "Where").identifiesData(),
                traits: { [self] _ in
                    .with {
                        $0.account = { self.state.withLock { $0.account } }
                        $0.acceptsSends = true
                    }
                }
            ) { [network, number] _, source in
                WorldOrigin(network: network, process: process, device: number, source: source)
            }
        ])
    }

    private func listen(to pantry: Pantry) -> Subscription? {
        pantry.attachment(RecordsAttachment.self, of: "notes")?.database.events.add { [self] event in
            let write = lastWrite.withLock { $0 }
            network.note("\(number) is told about \(event.id ?? "all"): \("\(event.kind)".prefix { $0 != "(" })")
            state.withLock { state in
                if case .renamed(let former) = event.kind { state.names[former] = event.id }
                state.told.append(Told(id: event.id, kind: event.kind, write: write))
            }
        }
    }

    // MARK: What the judge sees

    /// The records as the app sees them.
    func shown() async throws -> [Record<JSONText>] { try await notes.query().records.sorted { $0.id < $1.id } }

    func books() async throws -> Books { try await notes.books() }

    /// Returns the changes that are kept as letters.
    func letters() async throws -> [DeadLetter] {
        let (attachment, table) = (try notes.attachment(), try notes.table())
        return try await attachment.reading { try $0.letters(of: table).map(\.letter) }
    }
}
