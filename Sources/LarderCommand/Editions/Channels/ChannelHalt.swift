import Larder
import LarderEditions

extension Subcommand {
    static let haltEdition = Subcommand(
        name: "halt", operands: "CHANNEL", summary: "Takes back the newest edition, or all down to another one",
        options: [
            Command.Option(
                "to", value: "NUMBER",
                help: "The edition to go back to, 'embedded' for the policies in the app, or 'emergency' for the "
                    + "emergency edition in the app (default: the edition before)"),
            .key, .keys, .appPolicies, .until,
        ],
        example: "shop.channel --key steer.pem",
        run: { call in
            var editing = try ChannelEditing(call.operands[0], call: call)
            let numbers = editing.numbers
            let target = call.arguments.value(of: "to")
            let isEmergency = target == Subcommand.emergency
            let end = try editing.endOfHalt(to: target, numbers)
            let halted = editing.channel.editions[..<end].filter { $0.to.share > 0 }
            if halted.isEmpty, editing.channel.isEmergency == isEmergency {
                throw CommandFailure(
                    isEmergency
                        ? "\(editing.path) leads to the emergency edition already"
                        : "nothing is left to halt; --to NUMBER and --to embedded go further back")
            }
            if isEmergency, editing.known.carriesEmergency == false {
                call.terminal.note("warning: the app with these policies carries no emergency edition")
            }
            let over = editing.endEmergency()
            editing.channel.isEmergency = isEmergency
            for index in 0..<end {
                editing.channel.editions[index].to.share = 0
                editing.channel.editions[index].to.control = 0
            }
            let next = editing.channel.editions[end...].first { $0.to.share > 0 }
            try editing.write(
                halted.map { "\($0.title(numbers)) is halted" } + (isEmergency ? [] : over) + [
                    isEmergency
                        ? "next is the emergency edition in the app; an app without one goes on with its own policies"
                        : next.map { "next is \($0.title(numbers)) for \($0.to.inWords)" }
                            ?? "next are the policies in the app"
                ])
            return true
        })

    /// The target of 'halt' that leads to the emergency edition.
    fileprivate static let emergency = "emergency"
}

extension ChannelEditing {
    /// Returns the number of editions, from the newest one, that are halted.
    fileprivate func endOfHalt(to target: String?, _ numbers: [String: Int]) throws -> Int {
        let editions = channel.editions
        guard let target else { return min(1, editions.count) }
        if target == Subcommand.emergency { return 0 }
        if target == "embedded" { return editions.count }
        guard let number = Int(target) else {
            throw UsageError(message: "--to takes the number of an edition, 'embedded', or 'emergency'")
        }
        guard let index = editions.firstIndex(where: { numbers[$0.digest] == number }) else {
            let unknown = editions.filter { numbers[$0.digest] == nil }.map(\.at)
            let hint = unknown.isEmpty ? "" : "; these files are not next to it: " + unknown.joined(separator: ", ")
            throw CommandFailure("\(path) has no edition \(number)\(hint)")
        }
        guard editions[index].to.share > 0 else {
            throw CommandFailure("edition \(number) was halted itself; 'larder channel publish' offers it again")
        }
        return index
    }
}
