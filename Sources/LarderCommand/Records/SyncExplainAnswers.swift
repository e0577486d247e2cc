import Larder

// The answers of a service, and the waits of changes.
extension SyncExplanation {
    var answers: [String] {
        let names = ["conflict", "retry", "hold", "reject"]
        let (conflict, retry, hold, reject) = (
            outbox.numbers("conflict"), outbox.numbers("retry"), outbox.numbers("hold"), outbox.numbers("reject")
        )
        let listed = names.flatMap(outbox.numbers)
        func text(_ statuses: [Int], _ others: String...) -> String {
            (statuses.map { "\($0)" } + others).joined(separator: ", ")
        }
        let gone = [404, 410].filter { !listed.contains($0) }
        let failures = (conflict + hold + reject).contains { $0 >= 500 } ? "others of 500 and more" : "500 and more"
        let answers = [
            ("200 to 299", "the service has the change. A page of HTML is no answer."),
            (
                text(gone),
                "a deletion is done. A changed record was deleted by somebody else. A new record is refused."
            ),
            (
                text(conflict),
                "somebody else has changed the record. The change is merged onto theirs and sent again, up to 5 times; "
                    + "then the app decides."
            ),
            (text(retry.filter { $0 < 500 }, failures, "no answer"), "the change is sent again later."),
            (text(hold), "the change waits for a sign-in, and is tried every 15 min."),
            (
                text(reject, "other 4xx"),
                "the change is refused. It becomes a letter, which is kept for 90 days, and the record shows "
                    + (outbox["onReject"] == "keep" ? "the user's state." : "the service's state again.")
            ),
        ]
        return answers.filter { !$0.0.isEmpty }.map { "\($0.0): \($0.1)" }
    }

    var waiting: [String] {
        let retention = outbox["retention"].map { "A change that is older than \($0) becomes a letter." }
        return [
            "After a failed try: \(outbox["retries"] ?? "0") quick ones, the first after \(outbox["backoff"] ?? ""), each wait "
                + "longer by the factor \(outbox["factor"] ?? "1").",
            "Then one after 1 min, with waits that double up to \(outbox["limit"] ?? ""). The end of a wait comes earlier with a network, "
                + "the app in the foreground, or a run that the app asks for.",
            retention ?? "Tries never end, and no change is dropped.",
            "At most \(outbox["most"] ?? "") changes of \(outbox["capacity"] ?? "") wait for an account. A further one is refused when it is made.",
        ]
    }
}
