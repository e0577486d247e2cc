/// The graph of loaders that a policy describes: its layers, their roles and their settings.
///
/// A plan is a pure tree. It opens nothing and calls nothing. The composer makes one loader of each of its layers, and
/// `larder explain` prints the same layers, so that what is printed is what runs.
///
/// A plan leaves out two things, which are the same for every policy. Streams of updates ask the live side without the
/// strategy. A store whose folder has an unfinished clearing finishes this clearing before it answers.
public struct Plan: Sendable {
    /// The resource's name.
    package let resource: String
    /// The policy's revision.
    package let revision: String
    /// The loader that answers requests.
    let root: Layer
    /// The store, even if no layer uses it. A clearing must find the copies that were kept in it before.
    let store: Part?
    /// The validators, which check arriving payloads and copies that are read.
    let validators: [Part]
    /// The sections whose attachments do not go around loads.
    let besides: [Part]
    /// The names of the sections that have rules for some networks.
    let ruling: [String]

    /// One loader, and the layers that it is put around.
    indirect enum Layer: Sendable {
        /// Counts and times each load.
        case measured(Layer)
        /// The loader that the attachment of a section puts around loads.
        case attached(Part, around: Layer)
        /// Tries the fallbacks in order when the first loader fails, and admits and decodes their answers.
        case fallback(Layer, then: [(name: String, layer: Layer)])
        /// Applies the rules that sections have for some networks.
        case networkRules(Layer)
        /// A strategy over its sides. Requests with the modes `refresh` and `cachedOnly` bypass it.
        case strategy(Part, live: Layer?, cached: Layer?)
        /// The loader of a section that answers loads. It fetches from the layer inside, if there is an origin.
        case answering(Part, fetching: Layer?)
        /// Shares one call between equal requests whose live sides have equal declarations, admits and decodes its
        /// answer, and saves it where the strategy uses the store.
        case live(Layer, isSaved: Bool, declaration: Int)
        /// A wrapper around the origin or another wrapper.
        case wrapper(Part, PartIdentity, around: Layer)
        /// Counts and times each call of the policy's origin.
        case measuredOrigin(Part)
        /// The origin of a fallback.
        case origin(Part)
        /// Looks up copies in the store, and returns them if the validators permit it.
        case lookup
    }

    /// Makes the plan of `policy`.
    public init(_ policy: Policy) {
        self.init(policy, isMeasured: true)
    }

    /// Makes the plan of `policy`. A benchmark leaves out the layer that counts loads, to measure its cost.
    init(_ policy: Policy, isMeasured: Bool) {
        resource = policy.resource
        revision = policy.revision
        store = policy.store
        validators = policy.validators
        let answerer = Self.answerer(of: policy)
        let fallbacks = policy.fallbacks.map { part in
            (name: part.plugin.name, layer: Layer.origin(part))
        }
        besides = policy.sections.filter { !$0.sectionTraits.goesAround && $0 !== policy.answeringSection }
        ruling = policy.sections.filter(\.sectionTraits.limitsBackgroundWork).map(\.plugin.name)
        let answering = policy.sections.reversed().filter(\.sectionTraits.goesAround)
            .reduce(fallbacks.isEmpty ? answerer : .fallback(answerer, then: fallbacks)) { .attached($1, around: $0) }
        let ruled = policy.hasNetworkRules ? .networkRules(answering) : answering
        root = isMeasured ? .measured(ruled) : ruled
    }

    /// Returns the layer of the strategy, or else of the section that answers loads.
    private static func answerer(of policy: Policy) -> Layer {
        let origin = policy.origin.map { Self.origin($0, of: policy) }
        if let section = policy.answeringSection { return .answering(section, fetching: origin) }
        let live = origin.map { origin in
            // Only callers whose live sides have equal declarations share a call.
            Layer.live(
                origin, isSaved: policy.usesStore, declaration: policy.fingerprint(of: [.origin, .around, .validators]))
        }
        return .strategy(policy.answerer, live: live, cached: policy.usesStore ? .lookup : nil)
    }

    /// Returns the layer of the origin with the wrappers around it.
    private static func origin(_ origin: Part, of policy: Policy) -> Layer {
        var layer = Layer.measuredOrigin(origin)
        for (place, wrapper) in policy.around.enumerated().reversed() {
            // An unchanged wrapper around an unchanged origin keeps its state across a reload. A second equal wrapper
            // has its own state.
            let inside = Array(policy.around[(place + 1)...])
            layer = .wrapper(wrapper, PartIdentity(part: wrapper, origin: origin, inside: inside), around: layer)
        }
        return layer
    }
}
