extension Subcommand {
    static let renewChannel = Subcommand(
        name: "renew", operands: "CHANNEL", summary: "Makes a channel valid for longer, and changes nothing else",
        options: [.key, .keys, .appPolicies, .until], example: "shop.channel --key steer.pem",
        run: { call in
            try ChannelEditing(call.operands[0], call: call).write([])
            return true
        })
}
