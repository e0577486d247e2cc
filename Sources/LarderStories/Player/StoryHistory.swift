import LarderFoundation
import LarderSystem
import Larder
import LarderSimulation

/// The history of a story. Times are since zero.
struct StoryHistory: Sendable {
    /// The end of a load.
    enum Ending: Sendable {
        case value(Loaded<Data>)
        case error(LoadError)
        case cancelled
    }

    /// The answer to a load.
    struct Answer: Sendable {
        /// The number of the load.
        let number: Int
        let load: Story.Load
        let key: Key
        var start: Duration
        var end: Duration?
        /// The end of the load; nil if it never ends.
        var ending: Ending?
        /// The age of the payload when the load ended: the time since the origin last sent or confirmed it. Nil for a
        /// payload that the origin did not send.
        var age: Duration?
        /// Whether the payload is one that the origin sent, and had sent or confirmed since zero.
        var isLive = false

        var took: Duration? { end.map { $0 - start } }

        /// The code and the status of the error; "none" without one.
        var error: (code: String, status: Int?) {
            switch ending {
            case .error(let error): ("\(error.code)", error.status)
            case .cancelled: ("cancelled", nil)
            case .value, nil: ("none", nil)
            }
        }
    }

    /// A call of the origin.
    struct Call: Sendable {
        enum Ending: Sendable {
            case value
            case unchanged
            case failed(LoadError)
            /// The caller cancelled it.
            case givenUp
        }

        let key: Key
        let start: Duration
        /// Whether it met the behaviour before zero.
        let isEarlier: Bool
        /// Whether it named a copy that may be unchanged.
        let isConditional: Bool
        var end: Duration?
        var ending: Ending?

        /// Whether the origin answered with a value, or confirmed the copy as unchanged.
        var isAnswered: Bool {
            switch ending {
            case .value, .unchanged: true
            case .failed, .givenUp, nil: false
            }
        }

        /// How long the call waited in vain for its end; nil if it got there.
        func waited(until now: Duration) -> Duration? {
            switch ending {
            case nil: now - start
            case .givenUp: end.map { $0 - start }
            case .value, .unchanged, .failed: nil
            }
        }
    }

    var answers: [Answer]
    var calls: [Call] = []
    /// When the origin first sent or confirmed a payload since zero.
    var answeredAt: Duration?
    /// Notes about copies that could not be put into the store.
    var notes: [String] = []
    /// The stores, the fastest first.
    var stores: [FaultyStore] = []
    /// The number of tasks that were running at the end.
    var running = 0

    /// The number of calls to the origin up to an answer.
    func calls(by answer: Answer) -> Int {
        calls.count { call in answer.end.map { call.start <= $0 } ?? true }
    }
}

extension ObservedLoad {
    /// The things that the user of a load noticed.
    init(_ answer: StoryHistory.Answer, in history: StoryHistory) {
        self.init(ending: .never)
        waited = answer.took
        calls = history.calls.count { !$0.isEarlier }
        refreshedAfter = history.answeredAt.map { $0 - answer.start }
        switch answer.ending {
        case nil: break
        case .error, .cancelled: ending = .error(code: answer.error.code, status: answer.error.status)
        case .value(let loaded):
            // An origin on the device is not simulated, so that its payload is unknown.
            let isOwn = answer.age == nil && loaded.source == .origin
            ending = .value(age: isOwn ? .zero : answer.age)
            isLive = isOwn || answer.isLive
            isStale = loaded.freshness == .stale
            if case .fallback = loaded.source { isFallback = true }
        }
    }
}
