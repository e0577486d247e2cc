extension Command {
    static let outbox = Command(
        name: "outbox", summary: "Shows the changes that wait for services, and those that were given up.",
        details: """
            N is the number of a change, as 'ls' shows it. A change is given up when the service has refused it, when it has
            waited too long, or when somebody else has changed or deleted the record meanwhile. It is kept for 90 days as a
            letter, with its number.

            'restore' makes the change of a letter again, on the record as it is now, with a new number and a new key. If the
            record is gone, it is made again. Of an answer that refuses, the status is kept, and not its text.

            'drop' ends a change for good: it is never sent, and counted as discarded. A letter that is dropped is forgotten,
            and stays counted as what it was.

            'export' writes a line of JSON for each change and each letter, with or without --json.

            Exit code of 'retry': 0 if nothing waits afterwards.
            """,
        subcommands: [
            .listChanges, .showChange, .explainChange, .retryChanges, .dropChange, .restoreChange, .exportChanges,
        ])
}
