import Larder
import LarderSimulation

/// A history of records that users change: what they do, and what goes wrong meanwhile.
///
/// At its beginning, the service has a record, which the device has fetched. At its end there is a network, and everything that
/// waits is sent.
public struct RecordStory: Hashable, Sendable {
    /// A step of a history.
    public enum Step: String, Hashable, Sendable, CaseIterable {
        /// The user makes a record.
        case create
        /// The user changes the record of the service.
        case update
        /// The user changes the record that the user has made.
        case updateNew = "update-new"
        /// The user deletes the record of the service.
        case delete
        /// Another device changes the same field of the service's record.
        case otherUpdates = "other-updates"
        /// Another device changes another field of it.
        case otherUpdatesElsewhere = "other-updates-elsewhere"
        /// Another device deletes it.
        case otherDeletes = "other-deletes"
        /// Another device makes a record.
        case otherCreates = "other-creates"
        /// The network is gone.
        case offline
        /// The network is back.
        case online
        /// The next call with a change does not arrive.
        case callIsLost = "call-is-lost"
        /// The service makes the change of the next call, and its answer is lost.
        case answerIsLost = "answer-is-lost"
        /// The service answers the next change with the status 503.
        case fails
        /// The service answers the next change with the status 429.
        case busy
        /// The next change is answered with a page for people.
        case loginPage = "login-page"
        /// The process ends when the next change is sent.
        case endsBeforeCall = "ends-before-call"
        /// The process ends when the next change was made, before its answer arrives.
        case endsBeforeAnswer = "ends-before-answer"
        /// The process ends, and starts again.
        case restart
        /// A minute passes.
        case minute
    }

    /// The steps, in their order.
    public var steps: [Step]

    /// Creates a history.
    public init(_ steps: [Step]) { self.steps = steps }

    /// The history as a sentence shows it.
    package var inWords: String {
        var (words, minutes) = ([String](), 0)
        for step in steps + [nil] {
            if step == .minute {
                minutes += 1
                continue
            }
            if minutes > 0 { words.append(minutes == 1 ? Step.minute.inWords : "\(minutes) minutes pass") }
            minutes = 0
            if let step { words.append(step.inWords) }
        }
        return words.joined(separator: ", ")
    }
}

extension RecordStory.Step {
    /// The step of a trouble.
    init(_ trouble: SimulatedService.Trouble) {
        switch trouble {
        case .callIsLost: self = .callIsLost
        case .answerIsLost: self = .answerIsLost
        case .status(let status): self = status == 429 ? .busy : .fails
        case .loginPage: self = .loginPage
        }
    }

    /// Whether the user changes something.
    var isChange: Bool { [.create, .update, .updateNew, .delete].contains(self) }

    /// The step in words.
    package var inWords: String {
        switch self {
        case .create: "the user makes a record"
        case .update: "the user changes a record"
        case .updateNew: "the user changes the new record"
        case .delete: "the user deletes a record"
        case .otherUpdates: "another device changes the same field"
        case .otherUpdatesElsewhere: "another device changes another field"
        case .otherDeletes: "another device deletes it"
        case .otherCreates: "another device makes one"
        case .offline: "the network is gone"
        case .online: "the network is back"
        case .callIsLost: "the next call does not arrive"
        case .answerIsLost: "the next answer is lost"
        case .fails: "the next call is answered with 503"
        case .busy: "the next call is answered with 429"
        case .loginPage: "the next call is answered with a page for people"
        case .endsBeforeCall: "the app ends when it sends"
        case .endsBeforeAnswer: "the app ends before the next answer arrives"
        case .restart: "the app starts again"
        case .minute: "a minute passes"
        }
    }
}
