extension Command {
    static let sync = Command(
        name: "sync", summary: "Shows how records and their service come together, and brings them together.",
        details: """
            'status' tells for each resource and account how many changes wait, and accounts for each change that was ever made.
            'explain' says in words how a policy behaves. Neither asks a service.

            'probe' asks the service itself, as the policy says. Each line of the result is about one thing: it is 'ok', the policy
            or the service is 'wrong', or the service 'lacks' it. The setting that mends it stands in brackets. Nothing on this
            device is used. With --write, a record is made at the service, changed and deleted.

            'replay' shows how a corrected policy would send the changes that are stuck, before it is used. Each change is shown
            in a call of its own, without what the policy's signer adds. Nothing is sent, and nothing is changed.

            Exit code of 'run': 0 if everything was fetched, and no change waits or was refused. Exit code of 'probe': 0 if nothing
            is wrong; a service may lack something.
            """,
        subcommands: [.syncStatus, .runSync, .explainSync, .probeService, .replaySync])
}
