extension RecordStory {
    /// The histories that a proof plays, those with the fewest unusual facts first.
    ///
    /// Each combination of what the user does, of one or two troubles, of what another device does, and of the network.
    static let all: [RecordStory] = {
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
        var stories: [RecordStory] = []
        for change in changes {
            for trouble in troubles {
                for other in others {
                    for place in Place.allCases where place == .none || !other.isEmpty || place == .offline {
                        if other.isEmpty, place == .before { continue }
                        let steps: [Step] =
                            switch place {
                            // A change that is sent while nothing else happens, or while another device is quicker.
                            case .none: trouble + change
                            case .before: trouble + other + change
                            case .offline: [.offline] + trouble + change + other + [.minute, .online]
                            case .restarted: [.offline] + trouble + change + other + [.restart, .online]
                            case .after: trouble + change + [.minute] + other
                            }
                        if place == .none, !other.isEmpty { continue }
                        stories.append(RecordStory(steps))
                    }
                }
            }
        }
        var seen: Set<RecordStory> = []
        return stories.filter { seen.insert($0).inserted }.enumerated()
            .sorted { ($0.element.steps.count, $0.offset) < ($1.element.steps.count, $1.offset) }.map(\.element)
    }()

    /// The places of another device's change, and of the network's.
    private enum Place: CaseIterable { case none, before, offline, restarted, after }
}
