extension Command {
    static let sync = Command(
        name: "sync", summary: "Shows how records and their service come together, and brings them together.",
        details: """
            'status' tells for each resource and account how many changes wait, and accounts for each change that was ever made.
            'explain' says in words how a policy behaves. Neither asks a service.

            'probe' asks the service itself, as the policy says. Each line of the result is about one thing:
              ok       the service keeps what the policy expects
              wrong    the policy or the service must be mended
              lacks    the service cannot do it, or the policy does not use it
              untried  there was no occasion to ask
            The setting that it is about stands in brackets. Nothing on this device is used. With --write, a record is made at
            the service, changed and deleted.

            'replay' shows how a corrected policy would send the changes of records that are stuck, before it is used. Each
            change is shown in a call of its own, also if the policy sends batches. The address, and what the origin and its
            signer add, are not shown. With --values, values of the records are; a field with a secret is shown by its name.
            Nothing is sent, and nothing is changed. Letters are sent only after 'larder outbox restore'.

            Exit code of 'run': 0 if everything was fetched, and no change waits or was refused. Exit code of 'probe': 0 if nothing
            is wrong; a service may lack something.
            """,
        subcommands: [.syncStatus, .runSync, .explainSync, .probeService, .replaySync])
}
