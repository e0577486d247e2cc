public import LarderSystem

/// Work of a section that nobody waits for, such as a schedule.
///
/// An ``AgendaItem`` puts it on the agenda of the pantry. The agenda asks ``next(isMet:)`` when the work may begin, and runs
/// it. After each run it asks again.
///
/// ```swift
/// final class Digest: Attachment, AgendaWork {
///     func next(isMet: Bool) -> AgendaStep {
///         let left = due - context.world.now
///         if left > .zero { return .wait(left) }
///         return isMet ? .run : .waitForDevice
///     }
///
///     func run() async { await send() }
/// }
/// ```
public protocol AgendaWork: AnyObject, Sendable {
    /// The conditions of the work. By default a network.
    var conditions: AgendaConditions { get }

    /// Returns what follows now. It must be quick, and is called by one thread at a time, once the policy is in effect.
    ///
    /// - Parameter isMet: whether the conditions are met.
    func next(isMet: Bool) -> AgendaStep

    /// Does the work. When its task is cancelled, it should end soon.
    func run() async
}

extension AgendaWork {
    /// A network.
    public var conditions: AgendaConditions { AgendaConditions() }
}

/// The step that follows in some work: see ``AgendaWork/next(isMet:)``.
public enum AgendaStep: Hashable, Sendable {
    /// The work runs, as soon as there is a place.
    case run
    /// The question is asked again after this time, or earlier if the device changes.
    case wait(Duration)
    /// The question is asked again when the network, the power or the account may have changed.
    case waitForDevice
    /// The work has ended for good.
    case end
}

/// The conditions under which work on the agenda may run.
public struct AgendaConditions: Hashable, Sendable {
    /// The network to wait for.
    public let network: NetworkCondition
    /// Whether any network will do while the device is being charged.
    let isMetWhileCharging: Bool
    /// The kinds of background work that the sections of the policy must permit.
    let permissions: Set<BackgroundWork>
    /// Whether to wait until somebody is signed in, where the policy's origin calls only in the name of an account.
    let needsAccount: Bool

    /// Creates conditions. By default, the work waits for a network and for nothing else.
    public init(
        network: NetworkCondition = .online, orWhileCharging isMetWhileCharging: Bool = false,
        permitted permissions: Set<BackgroundWork> = [], needsAccount: Bool = false
    ) {
        (self.network, self.isMetWhileCharging) = (network, isMetWhileCharging)
        (self.permissions, self.needsAccount) = (permissions, needsAccount)
    }

    /// A condition that is not met.
    public enum Unmet: Hashable, Sendable {
        /// The network is another one, or the policy does not permit the work on it.
        case network
        /// Nobody is signed in.
        case account
    }

    /// Returns the first condition that is not met; nil if all are.
    func unmet(on device: Device, by resource: (any AgendaResource)?) -> Unmet? {
        if needsAccount, resource?.lacksAccount == true { return .account }
        guard network.isMet(by: device.network) || isMetWhileCharging && device.isCharging,
            permissions.allSatisfy({ resource?.permits($0) ?? true })
        else { return .network }
        return nil
    }
}

/// A resource as the agenda sees it.
protocol AgendaResource: Sendable {
    /// Whether its origin needs no network.
    var worksOffline: Bool { get }
    /// Whether nobody is signed in, and its origin calls only in the name of an account.
    var lacksAccount: Bool { get }
    /// Returns whether the sections of its policy permit some work on the present network.
    func permits(_ work: BackgroundWork) -> Bool
    /// Returns whether the section with this state belongs to the policy that is in effect.
    func isInEffect(_ section: ReloadState) -> Bool
}

/// The pantry as sections find its agenda.
protocol AgendaOwner: AnyObject, Sendable {
    var agenda: Agenda { get }
    /// Returns a resource; for an empty name the pantry's own sections.
    func agendaResource(_ name: String) -> any AgendaResource
}
