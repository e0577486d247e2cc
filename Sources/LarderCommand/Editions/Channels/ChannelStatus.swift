import Larder
import LarderEditions
import LarderReports
import LarderSystem

extension Subcommand {
    static let channelStatus = Subcommand(
        name: "status", operands: "CHANNEL", summary: "Shows a channel; fails if it is not valid any more",
        options: [.keys, .appPolicies], example: "shop.channel",
        run: { call in
            let path = call.operands[0]
            let (file, channel) = try call.channel(at: path)
            let known = try call.knownKeys(of: channel.name)
            let isVerified = !known.all.isEmpty
            let signers = isVerified ? try known.signers(ofChannel: file, at: path).map(\.id) : file.keyIDs
            let now = call.terminal.now()
            let numbers = channel.numbers(besides: path)
            let isValid = channel.until > now
            let names = signers.isEmpty ? "nobody" : signers.joined(separator: ", ")
            let left = channel.until - now
            let soon = left < .seconds(7 * 86_400) ? "; 'larder channel renew' extends it" : ""
            let until = (isValid ? "for \(left.brief)" : "not any more") + soon
            let head = [
                "channel \(channel.name), revision \(channel.revision)",
                "valid until \(channel.until.spelled), \(until)",
                "signed by \(names), "
                    + (isVerified ? "verified" : "not verified: --policies or --keys names the keys of the app"),
            ]
            let emergency = channel.isEmergency ? ["EMERGENCY: apps use the emergency edition that they carry"] : []
            let rows = channel.editions.map { row($0, numbers) }
            let columns = ["edition", "file", "rings", "salt", "digest", "share", "control"]
            let table = rows.isEmpty ? ["no edition"] : Table([columns] + rows, left: 5).lines
            call.print(
                head + emergency + [""] + table,
                json: channel.json(at: path, signers: signers, isVerified: isVerified, now: now))
            return isValid
        })

    private static func row(_ listed: ChannelFile.Listed, _ numbers: [String: Int]) -> [String] {
        let digest = String(listed.digest.dropFirst("sha256:".count).prefix(12))
        let number = numbers[listed.digest].map { "\($0)" } ?? "?"
        let share = listed.to.share > 0 ? listed.to.share.percent : "halted"
        let salt = listed.to.salt == listed.digest ? "–" : listed.to.salt
        return [
            number, listed.at, listed.to.rings?.joined(separator: ", ") ?? "all", salt, digest, share,
            listed.to.control > 0 ? listed.to.control.percent : "–",
        ]
    }
}
