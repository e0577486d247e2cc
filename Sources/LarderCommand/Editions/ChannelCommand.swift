extension Command {
    static let channel = Command(
        name: "channel", summary: "Says which installations of an app get which edition.",
        details: """
            CHANNEL is a file that apps read again and again, and EDITION a signed edition. Both lie next to each other, here and
            on the web server. Each change writes a new revision of the channel, which is valid for 30 days unless
            --until says otherwise. After that time, apps change nothing until there is a new revision: 'renew' writes it, for
            example once a week in CI.

            Apps accept a channel that a release key or a steer key has signed, and an edition that a release key has signed.

            An installation gets the first edition in the channel that is for its ring and share. So 'halt' leads all
            installations back to the edition below, or to the policies in the app.
            """,
        subcommands: [.publishEdition, .growEdition, .haltEdition, .renewChannel, .channelStatus])
}
