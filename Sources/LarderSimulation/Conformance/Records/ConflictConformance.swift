public import Larder

/// A suite that checks whether a rule for conflicts has the same result on every device: the function of
/// `Plugin.conflict(_:_:_:)`.
///
/// ```swift
/// #expect(ConflictConformance(mergedScores).brokenPromises() == [])
/// ```
public struct ConflictConformance: Sendable {
    /// Returns the record that goes on, from the one before both changes, the user's and the service's.
    public typealias Merge = @Sendable (_ base: JSONText?, _ mine: JSONText, _ theirs: JSONText) -> JSONText

    let merge: Merge
    let isSymmetric: Bool
    let samples: [JSONText]

    /// Creates the suite for a rule.
    ///
    /// - Parameters:
    ///   - merge: the rule.
    ///   - isSymmetric: whether both sides count alike. With a rule that prefers the user's side or the service's, it depends on
    ///     the order of their arrival which change stays.
    ///   - samples: states of one record of the service, at least three. By default, records with the members `id`, `title`,
    ///     `tags`, `count` and `done`.
    public init(isSymmetric: Bool = true, samples: [JSONText] = [], _ merge: @escaping Merge) {
        (self.merge, self.isSymmetric) = (merge, isSymmetric)
        self.samples = samples.isEmpty ? Self.usualSamples : samples
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        for base in [nil] + samples.map(Optional.some) {
            // The rule is asked only if both sides have changed the record, and not to the same.
            let changed = samples.filter { base?.means($0) != true }
            for (mine, theirs) in changed.flatMap({ mine in changed.map { (mine, $0) } }) where !mine.means(theirs) {
                check(base, mine, theirs, changed, &findings)
            }
        }
        return findings.broken
    }

    private func check(
        _ base: JSONText?, _ mine: JSONText, _ theirs: JSONText, _ others: [JSONText], _ findings: inout BrokenPromises
    ) {
        findings.situation = "base \(base?.text ?? "none"), mine \(mine.text), theirs \(theirs.text)"
        let result = merge(base, mine, theirs)
        func expect(_ found: JSONText, _ promise: Promise) {
            findings.expect(found.means(result), promise: promise, expected: result.text, got: found.text)
        }
        findings.expect(result.kind == .object, promise: .delivers, expected: "an object", got: result.text)
        expect(merge(base, mine, theirs), .deterministic)
        // The merged record meets the same change again.
        if !result.means(theirs) { expect(merge(base, result, theirs), .repeatable) }
        guard isSymmetric else { return }
        expect(merge(base, theirs, mine), .sidesAlike)
        for third in others where !third.means(result) && !third.means(theirs) {
            let (all, other) = (merge(base, result, third), merge(base, theirs, third))
            let turned = other.means(mine) ? mine : merge(base, mine, other)
            findings.expect(
                turned.means(all), promise: .ordersAlike, expected: all.text, got: "\(turned.text) after \(third.text)")
        }
    }

    private static let usualSamples = [
        #"{"id":"1","title":"a","tags":["x"],"count":1,"done":false}"#,
        #"{"id":"1","title":"b","tags":["x","y"],"count":2,"done":false}"#,
        #"{"id":"1","title":"a","tags":[],"count":3,"done":true}"#,
        #"{"id":"1","title":"c","count":2,"done":true,"more":{"a":[1,2]}}"#,
        #"{"id":"1"}"#,
    ].compactMap { try? JSONText($0.utf8) }
}

extension JSONText {
    fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
