import Larder
import LarderBase

/// `larder simulate --dumps N --out DIR`: a made-up fleet.
enum FleetCommand {
    /// Two days in which each device loads about a hundred times from each resource.
    private static let traffic = "rate=0.0006,for=48h,keys=20"
    /// A mobile network, with an outage of two hours between two roll-outs.
    private static let origin = "latency=150ms,slowest=8s,fails=1%,down=20h-22h,size=2KB"

    /// Whether the arguments ask for a fleet.
    static func isAsked(_ arguments: Arguments) throws(UsageError) -> Bool {
        let (dumps, out) = (arguments.value(of: "dumps"), arguments.value(of: "out"))
        if dumps == nil, out == nil { return false }
        guard dumps != nil, out != nil else { throw UsageError(message: "--dumps and --out need each other") }
        for option in ["trace", "try", "policies"] where arguments.value(of: option) != nil {
            throw UsageError(message: "--dumps and --\(option) exclude each other")
        }
        return true
    }

    static func run(_ arguments: Arguments, seed: UInt64, isJSON: Bool, _ terminal: Terminal) async throws -> Bool {
        let count = try arguments.number(of: "dumps", in: 10...100_000, default: 4_000)
        guard let folder = arguments.value(of: "out") else { return false }
        let files = arguments.values(of: "policy") + arguments.operands
        let plan = FleetPlan(
            dumps: count, policies: files.isEmpty ? .standard : try FleetPolicies.read(files),
            traffic: try Spec.read(arguments.value(of: "traffic") ?? traffic, as: .traffic, option: "traffic"),
            model: try Spec.read(arguments.value(of: "origin") ?? origin, as: .originModel, option: "origin"),
            seed: seed)
        do throws(Disk.Failure) {
            try Disk.makeFolder(folder)
            guard try Disk.list(folder).isEmpty else {
                terminal.complain("\(folder.printable) is not empty; a fleet needs a folder of its own")
                return false
            }
        } catch {
            terminal.complain("\(folder.printable) cannot be written: \(error)")
            return false
        }
        let progress = Progress(terminal, "simulate")
        let devices = plan.devices.count
        let account = try await Fleet(plan: plan, folder: folder).write { done in
            progress.show(Double(done) / Double(devices), "\(done) of \(counted(devices, "device"))")
        }
        progress.end()
        if isJSON {
            terminal.print(account.json.text())
        } else {
            let loads = account.truth.resources.values.reduce(0) { $0 + $1.requests }
            terminal.print(
                "\(counted(account.installations, "installation")), \(counted(account.dumps, "dump")), "
                    + "\(counted(loads, "load")); \(counted(account.apart.count, "dump")) with wrong clocks, "
                    + "\(counted(account.bad.count, "bad file"))")
            terminal.print("larder report \(folder.printable)")
        }
        terminal.note("written to \(folder.printable): the dumps, and \(Fleet.account) with the totals")
        return true
    }
}
