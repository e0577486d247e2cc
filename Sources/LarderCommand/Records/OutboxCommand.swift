extension Command {
    static let outbox = Command(
        name: "outbox", summary: "Shows the changes that wait for services, and those that were given up.",
        details: """
            N is the number of a change, as 'ls' shows it. A change keeps its number when it is given up: when the service has
            refused it, when it has waited too long, or when somebody else's change has overtaken it. Such a change is kept for 90
            days as a letter, which 'restore' makes again, on what the record is then.

            'drop' ends a change for good: it is never sent, and counted as discarded. A letter that is dropped is forgotten.

            'export' writes a line of JSON for each change and each letter.

            Exit code of 'retry': 0 if nothing waits afterwards.
            """,
        subcommands: [
            .listChanges, .showChange, .explainChange, .retryChanges, .dropChange, .restoreChange, .exportChanges,
        ])
}
