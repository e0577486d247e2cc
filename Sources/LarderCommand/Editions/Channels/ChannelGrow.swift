import Larder
import LarderEditions
import LarderReports

extension Subcommand {
    static let growEdition = Subcommand(
        name: "grow", operands: "CHANNEL", summary: "Raises the share of the edition that is being rolled out",
        options: [.share, .key, .keys, .appPolicies, .until], example: "shop.channel --share 25% --key steer.pem",
        run: { call in
            guard let share = try call.share(of: "share") else {
                throw UsageError(message: "--share is missing: it takes a share such as 25%")
            }
            var editing = try ChannelEditing(call.operands[0], call: call)
            let numbers = editing.numbers
            let editions = editing.channel.editions
            guard let index = editions.firstIndex(where: { $0.to.share > 0 && $0.to.share < 1 }) else {
                guard let first = editions.first else { throw CommandFailure("\(editing.path) lists no edition") }
                throw CommandFailure(
                    first.to.share == 0
                        ? "\(first.title(numbers)) was halted; 'larder channel publish' offers it again"
                        : "\(first.title(numbers)) has \(first.to.inWords) already; 'larder channel halt' takes it back"
                )
            }
            let old = editions[index]
            guard share > old.to.share else {
                throw CommandFailure(
                    "\(old.title(numbers)) has \(old.to.share.percent) already; shares only grow. To offer it to fewer, "
                        + "halt it and publish it again")
            }
            var new = old
            new.to.share = share
            new.to.control = min(old.to.control, 1 - share)
            editing.channel.editions[index] = new
            let over = editing.endEmergency()
            try editing.write(
                ["\(new.title(numbers)) for \(new.to.inWords), before \(old.to.share.percent)"] + over)
            return true
        })
}
