import LarderFoundation
import Larder
import LarderSimulation
import LarderSync
import LarderSystem

/// The records of an app's policies, opened by this process beside the app. Nothing is sent or fetched by itself.
struct OpenRecords {
    /// The use of the records.
    enum Use {
        /// Only what is on this device is used, and nothing is made where nothing is.
        case device
        /// Services are asked, and their answers are kept.
        case service
        /// Services are asked, and nothing of this device is used.
        case probe
    }

    let call: Subcommand.Call
    let pantry: Pantry
    /// The policies with records, or with a queue of requests.
    let policies: [Policy]
    /// The name of the resource that the call is about; nil for all.
    let resource: String?
    /// The account that the call names; nil if it names none.
    let account: String?
    let data: URL
    /// The folder that stands in place of folders of the app that are not used.
    private let passingFolder: TemporaryFolder?

    /// Whether ids and values may be shown.
    var showsValues: Bool { call.arguments.has(Command.Option.values.name) }

    /// Opens the records, or returns nil if there is no folder for data yet.
    ///
    /// - Parameter operand: the operand that names the resource.
    /// - Throws: ``PolicyError`` if a policy is not sound. ``CommandFailure`` if there is no such resource, or it has no records.
    private init?(_ operand: String?, of call: Subcommand.Call, for use: Use, needs section: Plugin) async throws {
        self.call = call
        let arguments = call.arguments
        let place = try operand.map { operand throws(UsageError) in try arguments.resource(operand) }
        let folder = place?.folder ?? arguments.policies
        let passing = use == .service ? nil : try TemporaryFolder()
        let passingData = use == .probe ? passing?.url.appending(path: "data") : nil
        guard let data = passingData ?? arguments.data(for: folder) else {
            throw UsageError(message: "--data DIR is missing: this user has no folder for data")
        }
        self.data = data
        account = try arguments.scope()
        resource = place?.name
        var reader = arguments.reader(call.registry, folder.shortPath).withoutProcess
        if let resource { reader = reader.needing(resource) }
        let (all, problems) = try reader.readSound()
        for problem in problems { call.terminal.note(problem.description) }
        policies = all.filter { $0.keepsRecords || $0.section(.outbox) != nil }
        if let resource {
            let policy = try all.named(resource)
            guard policy.section(section) != nil || policy.keepsRecords else {
                let others = all.filter { $0.section(section) != nil || $0.keepsRecords }.map(\.resource)
                throw CommandFailure(
                    "\(resource): its policy has no section '\(section.name)'"
                        + (others.isEmpty ? "" : "; there is one in: \(others.joined(separator: ", "))"))
            }
        }
        if use == .device, !Disk.isThere(data.path) {
            if arguments.value(of: "data") != nil { call.terminal.note("there is no folder \(data.shortPath)") }
            return nil
        }
        passingFolder = passing
        pantry = try await Pantry(
            reader: reader, cache: passing?.url.appending(path: "cache") ?? arguments.cache(for: folder), data: data,
            world: SystemWorld(),
            removesUnused: false, allowsBackgroundWork: false)
        if use == .service { for problem in pantry.cacheProblems { call.terminal.note(problem.description) } }
    }

    /// Opens the records for a call, and closes them after it. When the process is interrupted, they are closed first.
    ///
    /// - Parameters:
    ///   - operand: the operand that names the resource; nil if the call names none.
    ///   - use: what may happen.
    ///   - section: the section that the resource must have.
    ///   - nothing: called if there is nothing to look into.
    static func open(
        _ operand: String?, of call: Subcommand.Call, for use: Use, needs section: Plugin = .records,
        orElse nothing: () throws -> Bool, _ body: (OpenRecords) async throws -> Bool
    ) async throws -> Bool {
        guard let open = try await OpenRecords(operand, of: call, for: use, needs: section) else {
            return try nothing()
        }
        let closing = open.pantry.closeOnSignals()
        defer { closing.stop() }
        do {
            let isDone = try await body(open)
            await open.pantry.close()
            return isDone
        } catch {
            await open.pantry.close()
            throw open.explained(error)
        }
    }

    /// Returns an error of the disk or the database with the resource and the folder. Returns any other error as it is.
    private func explained(_ error: any Error) -> any Error {
        let name = resource.map { "\($0.printable): " } ?? ""
        switch error {
        case let failure as SQLiteFailure where failure.isDamaged && !failure.isOfStatement:
            return CommandFailure("\(name)\(error) [in \(data.shortPath)]; 'larder records verify' says more")
        case is SQLiteFailure, is Disk.Failure: return CommandFailure("\(name)\(error) [in \(data.shortPath)]")
        case is RecordError, is LoadError: return CommandFailure(name + "\(error)")
        case is CancellationError: return CommandFailure(name + "interrupted; what was done before stays")
        default: return error
        }
    }

    /// Returns the resources and accounts with records that the call is about.
    func accounts() async throws -> [RecordAccount] {
        try await pantry.recordAccounts().filter {
            (resource == nil || $0.resource == resource) && (account == nil || $0.account == account)
        }
    }

    /// Returns the records of an account.
    func records(of account: RecordAccount) -> Records<JSONText> {
        pantry.records(account.resource, scope: account.account)
    }
}

extension Policy {
    /// Whether the resource has records.
    var keepsRecords: Bool { section(.records) != nil }

    /// Returns the part of a section; nil if the policy has none.
    func section(_ plugin: Plugin) -> Part? { sections.first { $0.plugin.name == plugin.name } }
}

extension Command.Option {
    static let values = Command.Option(
        "values", help: "Show ids, accounts and the values of records, which may be private")
    static let account = Command.Option("scope", value: "NAME", help: "Only the records of this account")
}

extension [Command.Option] {
    /// The options of the commands that use only what is on this device.
    static let ofRecords: [Command.Option] = ofServices + [.assume]
    /// The options of the commands that ask services.
    static let ofServices: [Command.Option] = [.policies, .data, .account]
}
