public import LarderSystem

/// The reason for which a change waits, and the moment that ends the wait.
///
/// Every change that waits has one. More reasons may be added.
@nonexhaustive public enum WaitReason: Sendable, Hashable {
    /// The reasons to send nothing before a time. More may be added.
    @nonexhaustive public enum Pause: Sendable, Hashable {
        /// More changes may follow, and are sent together: the setting `gather` of the section `outbox`.
        case gather
        /// The setting `every` of the pusher: the shortest time between two runs.
        case every
        /// The last try has failed: the settings `backoff`, `factor` and `limit` of the section `outbox`.
        case retry
        /// The service has asked for the wait.
        case service
        /// Many devices may have come back online together, so each one waits a few seconds.
        case spread
    }

    /// An earlier change goes first: of the same record, or of the same line of requests.
    ///
    /// - Parameter number: the number of that change: see ``WaitingChange/number``.
    case earlierChange(number: Int64)
    /// It is sent at this time, or earlier if the network returns or the app syncs.
    case time(Timestamp, Pause)
    /// The next run sends it: one that is under way or about to begin, or that the app asks for.
    case nextRun
    /// There is no network that the policy permits.
    case network
    /// Nobody is signed in, or another account is, or the service has asked for a new sign-in.
    ///
    /// - Parameter nextTry: the time at which the service is asked again nevertheless; nil if it is not.
    case account(nextTry: Timestamp?)
    /// It refers to a new record that the service must name first.
    ///
    /// - Parameter id: the temporary id of that record.
    case record(id: String)
    /// The app must decide about a conflict: see ``Records/resolve(_:with:)``.
    case decision
    /// It was made for another source: see ``Records/releaseHeld()``.
    case source
    /// It was sent, and the answer is not known yet. If the process ends before that, it is sent again.
    case answer
    /// The record of the service is looked up first, because the service refused the change without telling the record.
    ///
    /// - Parameter nextTry: the time at which it is looked up again; nil if that is the next run.
    case lookup(nextTry: Timestamp?)
    /// The policy has no `push`, so nothing sends it.
    case push

    /// The time at which the wait ends by itself; nil if it does not wait for a time.
    public var time: Timestamp? {
        switch self {
        case .time(let time, _): time
        case .account(let time), .lookup(let time): time
        case .earlierChange, .nextRun, .network, .record, .decision, .source, .answer, .push: nil
        }
    }
}

extension WaitReason: CustomStringConvertible {
    /// The end of the sentence "The change waits for …", without ids and times.
    public var description: String {
        switch self {
        case .earlierChange: "an earlier change, which is sent first"
        case .time(_, let pause): pause.description
        case .nextRun: "the next run, which sends it"
        case .network: "a network that the policy permits"
        case .account(nil): "its account to sign in"
        case .account: "a new sign-in, which the service asks for"
        case .record: "the service to name a new record, to which it refers"
        case .decision: "a decision of the app about a conflict"
        case .source: "its own source: it was made for another one than that of the policy"
        case .answer: "the answer of the service"
        case .lookup: "the record of the service, which is looked up"
        case .push: "a policy with 'push': this one has none, so nothing sends it"
        }
    }
}

extension WaitReason.Pause: CustomStringConvertible {
    /// The end of the sentence "The change waits for …", without times.
    public var description: String {
        switch self {
        case .gather: "more changes, which are sent together"
        case .every: "the next run, because the policy sends no more often"
        case .retry: "the next try, after one that failed"
        case .service: "the time that the service has asked for"
        case .spread: "its turn after the network has returned"
        }
    }
}

extension WaitReason {
    /// - Parameter prospect: the time at which changes are sent that wait for nothing of their own.
    init(_ waiting: WaitingWrite, _ prospect: SendingProspect) {
        if let first = waiting.first {
            self = .earlierChange(number: first)
            return
        }
        switch waiting.step {
        case .ask: self = .decision
        case .otherSource: self = .source
        case .needs(_, let ids): self = ids.min().map { .record(id: $0) } ?? .nextRun
        case .sending: self = .answer
        case .lookUp:
            switch prospect {
            case .planned(let time, _): self = .lookup(nextTry: time)
            case .nextRun: self = .lookup(nextTry: nil)
            case .never, .network, .account: self = WaitReason(prospect)
            }
        case .send, .rest: self = WaitReason(prospect)
        case .wait(_, let until):
            let (write, time) = (waiting.write, Timestamp(milliseconds: until))
            let pause: Pause = write.isAskedToWait ? .service : .retry
            switch prospect {
            case .planned(let planned, _) where write.isHeld: self = .account(nextTry: max(time, planned))
            case .nextRun where write.isHeld: self = .account(nextTry: time)
            case .planned(let planned, .every) where planned > time: self = .time(planned, .every)
            case .planned(let planned, _): self = .time(max(time, planned), pause)
            case .nextRun: self = .time(time, pause)
            case .never, .network, .account: self = WaitReason(prospect)
            }
        }
    }

    private init(_ prospect: SendingProspect) {
        switch prospect {
        case .never: self = .push
        case .network: self = .network
        case .account: self = .account(nextTry: nil)
        case .nextRun: self = .nextRun
        case .planned(let time, let pause): self = .time(time, pause)
        }
    }
}
