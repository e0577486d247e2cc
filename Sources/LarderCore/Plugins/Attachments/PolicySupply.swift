/// An attachment of the pantry that supplies policies in place of the app's own, such as policies that came over the
/// network.
///
/// The pantry asks it whenever policies are put in effect: when the pantry is made, and by ``Pantry/reload()``. To put other
/// policies in effect, an attachment reloads the pantry: ``SectionContext/ownPantry``.
///
/// Supplied policies take effect as a whole or not at all, and only within the ``reach``. Anything else refuses them:
/// another origin, a resource that the app does not have, a file or an environment variable that its own policy does not
/// name. The app's own policies must be sound in any case.
public protocol PolicySupply: Attachment {
    /// The keys of a policy in which supplied policies may differ from the app's own: `["strategy", "validators"]`.
    var reach: Set<String> { get }

    /// Returns the texts that stand in place of the app's own files, by the name of the resource, or by `_NAME` for
    /// a file `_NAME.json` that others extend. All other files stay the app's own. Returns nil for the app's own policies.
    ///
    /// It may block. It must not call the pantry, which is about to put policies in effect.
    ///
    /// - Parameter own: a hash of the app's own policies.
    func supply(over own: String) -> [String: String]?

    /// Tells the result for what ``supply(over:)`` returned last. After a refusal, ``supply(over:)`` is asked again, at most
    /// eight times.
    ///
    /// It must not reload the pantry before it returns.
    func supplied(_ result: PolicySupplyResult)

    /// Facts about the supplied policies for dumps, such as their number. They hold no key, address or payload.
    /// The fact `running` names the policies in effect, also the app's own.
    var facts: [String: String] { get }
}

/// The result for policies that were supplied: see ``PolicySupply/supplied(_:)``.
public enum PolicySupplyResult: Sendable {
    /// They are in effect; or the app's own are, if nothing was supplied.
    case inEffect
    /// They have errors, or change what they may not change: problems with the ``Problem/rule`` `reach`.
    case refused(PolicyError)
    /// They could not be tried, because the app's own policies cannot be put in effect either.
    case untried
}
