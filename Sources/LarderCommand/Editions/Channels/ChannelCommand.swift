extension Command {
    static let channel = Command(
        name: "channel", summary: "Says which installations of an app get which edition.",
        details: """
            CHANNEL is a file that apps read again and again, and EDITION a signed edition. Both lie next to each other, here and
            on the web server. Each change writes a new revision of the channel, which is valid for 30 days unless
            --until says otherwise. After that time, apps change nothing until there is a new revision: 'renew' writes it, for
            example once a week in CI.

            Apps accept a channel that a release key or a steer key has signed, and an edition that a release key has signed.
            The section 'channel' of _larder.json in the folder of --policies names these keys. No change is signed that apps
            would refuse.

            An installation gets the first edition in the channel that is for its ring and share. So 'halt' leads all
            installations back to the edition below, or to the policies in the app.

            'larder channel SUBCOMMAND --help' has an example of each.
            """,
        subcommands: [.publishEdition, .growEdition, .haltEdition, .renewChannel, .channelStatus])
}
