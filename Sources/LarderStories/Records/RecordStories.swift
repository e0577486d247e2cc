extension RecordStory {
    /// The histories that a proof plays, those with the fewest unusual facts first.
    ///
    /// Each combination of what the user does, of one or two troubles, of what another device does, and of the network.
    ///
    /// - Parameter firstTry: the longest time from a change to its first try. In some histories, another device changes the
    ///   record after that, when the outcome of the first try is not known.
    static func all(firstTry: Duration) -> [RecordStory] {
        let minutes = min(Int(firstTry / .seconds(60)), mostMinutes) + 1
        let changes: [[Step]] = [[.create], [.update], [.delete], [.create, .updateNew], [.update, .update]]
        let troubles: [[Step]] =
            [[]]
            + [Step.callIsLost, .answerIsLost, .fails, .busy, .loginPage, .endsBeforeCall, .endsBeforeAnswer].map {
                [$0]
            }
            + [
                [.callIsLost, .callIsLost], [.fails, .fails], [.busy, .busy], [.loginPage, .fails],
                [.answerIsLost, .answerIsLost], [.answerIsLost, .endsBeforeCall], [.fails, .answerIsLost],
            ]
        let others: [[Step]] = [[], [.otherUpdates], [.otherUpdatesElsewhere], [.otherDeletes], [.otherCreates]]
        let stories = changes.flatMap { change in
            troubles.flatMap { trouble in
                others.flatMap { other -> [[Step]] in
                    let offline = [.offline] + trouble + change + other
                    if other.isEmpty { return [trouble + change, offline + [.minute, .online]] }
                    let late = minutes > 1 ? [trouble + change + Array(repeating: .minute, count: minutes) + other] : []
                    return [
                        trouble + other + change, trouble + change + [.minute] + other, offline + [.minute, .online],
                        offline + [.restart, .online],
                    ] + late
                }
            }
        }
        return stories.enumerated().sorted { ($0.element.count, $0.offset) < ($1.element.count, $1.offset) }
            .map { RecordStory($0.element) }
    }

    /// The most minutes that pass before another device changes something.
    private static let mostMinutes = 60
}
