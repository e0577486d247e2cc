import Larder
import LarderSystem
import LarderCommand

/// Writes the dumps of a made-up fleet, as `FleetRun --help` explains. `Tests/fleet` runs it.
@main struct FleetRun {
    /// Two days in which each device loads about a hundred times from each resource.
    private static let traffic = "rate=0.0006,for=48h,keys=20"
    /// A mobile network, with an outage of two hours between two roll-outs.
    private static let origin = "latency=150ms,slowest=8s,fails=1%,down=20h-22h,size=2KB"

    static func main() async {
        await LarderCommand.main(.fleet)
    }

    fileprivate static func run(_ arguments: Arguments, _ terminal: Terminal) async throws -> Bool {
        let format = try arguments.format(["text", "json"])
        let seed = try arguments.number(of: "seed", in: 0...Int(Int32.max), default: 1)
        for operand in arguments.operands where !operand.hasSuffix(".json") {
            throw UsageError(message: "'\(operand)' is not a policy file such as Policies/feed.json")
        }
        guard arguments.value(of: "dumps") != nil, let folder = arguments.value(of: "out") else {
            throw UsageError(message: "--dumps and --out need each other")
        }
        let count = try arguments.number(of: "dumps", in: 10...100_000, default: 4_000)
        let files = arguments.values(of: "policy") + arguments.operands
        let plan = FleetPlan(
            dumps: count, policies: files.isEmpty ? .standard : try FleetPolicies.read(files),
            traffic: try OptionObject.read(arguments.value(of: "traffic") ?? traffic, as: .traffic, option: "traffic"),
            model: try OptionObject.read(arguments.value(of: "origin") ?? origin, as: .originModel, option: "origin"),
            seed: UInt64(seed))
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
        let progress = Progress(terminal, "FleetRun")
        let devices = plan.devices.count
        let account = try await Fleet(plan: plan, folder: folder).write { done in
            progress.show(Double(done) / Double(devices), "\(done) of \(counted(devices, one: "device"))")
        }
        progress.end()
        if format == "json" {
            terminal.print(account.json.text())
        } else {
            let loads = account.truth.resources.values.reduce(0) { $0 + $1.requests }
            terminal.print(
                "\(counted(account.installations, one: "installation")), \(counted(account.dumps, one: "dump")), "
                    + "\(counted(loads, one: "load")); \(counted(account.apart.count, one: "dump")) with wrong clocks, "
                    + "\(counted(account.bad.count, one: "bad file"))")
            terminal.print("larder report \(folder.printable)")
        }
        terminal.note("written to \(folder.printable): the dumps, and \(Fleet.account) with the totals")
        return true
    }
}

extension Command {
    static let fleet = Command(
        name: "FleetRun", isProgram: true, summary: "Simulates a fleet of devices and writes their dumps.",
        operands: "[PATH …]",
        details: """
            Simulates a fleet of devices over two days, so that reports can be tried. The same options always give the same
            dumps.

            PATH is a policy file, as with --policy. Policies with the same resource are revisions of it that are rolled out
            one after the other; by default there are three revisions of 'feed', of which the last makes users wait longer.
            There is an outage, two devices have wrong clocks, and ten files are not dumps. The file truth.json has the
            exact totals:
              FleetRun --dumps 4000 --out fleet && larder report fleet

            The values of --traffic and --origin are written as those of 'larder simulate'.
            """,
        options: [
            Option("dumps", value: "N", help: "The number of dumps"),
            Option("out", value: "DIR", help: "The folder for the dumps. It must be empty"),
            Option("policy", value: "FILE", help: "A policy of the devices; repeatable"),
            Option("traffic", value: "SPEC", help: "The requests of a device for each resource"),
            Option("origin", value: "SPEC", help: "The behaviour of the origin"),
            Option("seed", value: "N", help: "The seed of all chance (default: 1)"), .json, .format(["text", "json"]),
        ],
        run: { arguments, _, terminal in try await FleetRun.run(arguments, terminal) })
}
