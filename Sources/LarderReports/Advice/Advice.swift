package import Larder

/// A proposal to change a policy, with the effect that it would have had.
package struct Advice: Sendable {
    /// The figure that gets better.
    package enum Effect: String, Sendable, CaseIterable {
        /// Loads that failed although there was a copy.
        case staleErrors = "stale_errors"
        /// Loads that got a copy or a fallback because a call failed or was too slow.
        case fallbacks
        /// Calls to the origin.
        case originCalls = "origin_calls"
        /// The time that loads waited before they fell back, in milliseconds.
        case fallbackWait = "fallback_wait"
        /// Bytes that were prefetched and never used.
        case prefetchedWaste = "prefetched_wasted_bytes"

        /// Returns the figure.
        package func figure(_ metrics: ResourceMetrics) -> Double {
            switch self {
            case .staleErrors: Double(metrics[.staleErrors])
            case .fallbacks: Double(metrics[.fallbacks])
            case .originCalls: Double(metrics[.originCalls])
            case .prefetchedWaste: Double(metrics[.prefetchedWastedBytes])
            case .fallbackWait: (metrics.latency[.fallback]?.sum ?? .zero).inSeconds * 1_000
            }
        }
    }

    /// A value of the policy that changes.
    package struct Change: Sendable, Hashable {
        package var path: PolicyPath
        /// The plugin that has the setting.
        var plugin: String
        var old: JSON?
        /// The new value; nil if the setting is removed.
        package var new: JSON?
    }

    package let resource: String
    /// The revision of the policy that the advice is about.
    package let revision: String
    let topic: AdviceTopic
    package let changes: [Change]
    package let effect: Effect
    /// The figure so far.
    let figure: Double
    /// The amount by which the figure would have been smaller: one number, or an interval if the counts leave it open.
    let saved: ClosedRange<Double>
    /// The advice in a sentence, without the place of the setting.
    package let sentence: String

    /// The most pieces of advice for a resource.
    private static let most = 3

    /// The rules, each of which gives at most one piece of advice.
    private static let rules: [@Sendable (AdviceBasis) -> Advice?] = [
        { $0.longerOnError }, { $0.longerPatience }, { $0.shorterPatience }, { $0.longerFresh }, { $0.noRefreshAhead },
        { $0.moreCapacity }, { $0.noPrefetch },
    ]

    /// The advice that the counts of a resource give, the one with the greatest effect first.
    static func all(on section: Report.Section, with registry: Registry) -> [Advice] {
        guard let basis = AdviceBasis(section, registry) else { return [] }
        return Array(rules.compactMap { $0(basis) }.sorted { $0.share > $1.share }.prefix(most))
    }

    /// The work of `larder advise` about changes that are not proved.
    static let proof = "proves which changes keep the promises of the policy, and gives the lines to write"

    /// The part of the figure that would be saved, in the middle of the interval.
    var share: Double { figure > 0 ? (saved.lowerBound + saved.upperBound) / 2 / figure : 0 }

    /// The lines to write, each with its place: `validators[0] (age): "onError": "12h"`.
    package var lines: [String] {
        changes.map { change in
            guard case .member(let name)? = change.path.steps.last else { return "\(change.path)" }
            let outer = change.path.steps.dropLast()
            let place = outer.isEmpty ? "" : "\(PolicyPath(Array(outer))) (\(change.plugin.printable)): "
            guard let new = change.new else { return "\(place)without \"\(name)\"" }
            return "\(place)\"\(name)\": \(new.text(indented: false))"
        }
    }
}

/// The counts and settings on which advice is based: those of the revision that is in effect.
struct AdviceBasis: Sendable {
    let resource: String
    let metrics: ResourceMetrics
    let settings: [AdvisedSetting]

    var alternatives: WhatIfCounts { metrics.alternatives }

    /// - Returns: nil if no dump has the policy.
    init?(_ section: Report.Section, _ registry: Registry) {
        guard let revision = section.revisions.last(where: \.isCurrent) ?? section.revisions.last,
            let policy = revision.policy
        else { return nil }
        var metrics = revision.metrics
        metrics.revision = revision.name
        self.init(section.name, metrics: metrics, settings: AdvisedSetting.all(in: policy, of: registry))
    }

    init(_ resource: String, metrics: ResourceMetrics, settings: [AdvisedSetting]) {
        self.resource = resource
        self.metrics = metrics
        self.settings = settings
    }

    /// The only setting about a topic; nil if there is none or several.
    subscript(topic: AdviceTopic) -> AdvisedSetting? {
        let found = settings.filter { $0.topic == topic }
        return found.count == 1 ? found[0] : nil
    }

    /// Makes advice to change one setting.
    func advice(
        _ setting: AdvisedSetting, to value: JSON?, effect: Advice.Effect, saves saved: ClosedRange<Double>,
        sentence: String
    ) -> Advice {
        advice(setting.topic, settings: [setting], to: value, effect: effect, saves: saved, sentence: sentence)
    }

    /// Makes advice to change several settings about one topic to the same value.
    func advice(
        _ topic: AdviceTopic, settings: [AdvisedSetting], to value: JSON?, effect: Advice.Effect,
        saves saved: ClosedRange<Double>, sentence: String
    ) -> Advice {
        Advice(
            resource: resource, revision: metrics.revision, topic: topic,
            changes: settings.map { .init(path: $0.path, plugin: $0.plugin, old: $0.value, new: value) },
            effect: effect, figure: effect.figure(metrics), saved: saved, sentence: sentence)
    }
}

extension Histogram {
    /// The smallest limit above `least`, up to `most`, below which `share` of the counts are; nil if there is none.
    func limit(above least: Int64, upTo most: Int64, below share: Double) -> Int64? {
        let wanted = share * Double(count)
        return parts.compactMap(\.to).first { $0 > least && $0 <= most && Double(count(below: $0)) >= wanted }
    }
}

extension ClosedRange<Double> {
    /// The numbers, rounded: `398`, or `350 to 398`.
    var rounded: String {
        let (low, high) = (lowerBound.whole, upperBound.whole)
        return low == high ? "\(low)" : "\(low) to \(high)"
    }
}

extension Double {
    /// The nearest whole number. A dump may claim counts whose sum is larger than any.
    package var whole: Int { isNaN ? 0 : self >= 9e18 ? .max : self <= -9e18 ? .min : Int(rounded()) }
}
