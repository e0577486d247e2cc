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
    ///   - isSymmetric: whether both sides count alike. A rule that prefers the user's side or the service's does not treat them
    ///     so: which change stays depends on who comes first then.
    ///   - samples: states of one record of the service, at least three. By default, records with the members `id`, `title`,
    ///     `tags`, `count` and `done`.
    public init(isSymmetric: Bool = true, samples: [JSONText] = [], _ merge: @escaping Merge) {
        (self.merge, self.isSymmetric) = (merge, isSymmetric)
        self.samples = samples.isEmpty ? Self.usualSamples : samples
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() -> [BrokenPromise] {
        var findings = BrokenPromises()
        for (mine, theirs) in samples.flatMap({ mine in samples.map { (mine, $0) } }) {
            for base in [nil] + samples.map(Optional.some) { check(base, mine, theirs, &findings) }
        }
        return findings.broken
    }

    private func check(_ base: JSONText?, _ mine: JSONText, _ theirs: JSONText, _ findings: inout BrokenPromises) {
        findings.situation =
            "base \(base?.text ?? "none"), mine \(mine.text), theirs \(theirs.text)"
        let result = merge(base, mine, theirs)
        findings.expect(result.kind == .object, promise: .delivers, expected: "an object", got: result.text)
        findings.expect(
            merge(base, mine, theirs) == result, promise: .deterministic, expected: result.text,
            got: merge(base, mine, theirs).text)
        if mine.means(theirs) {
            findings.expect(
                result.means(mine), promise: .consistent, expected: "what both sides have", got: result.text)
        }
        if let base, !base.means(theirs), base.means(mine) {
            findings.expect(
                result.means(theirs), promise: .consistent, expected: "the only change", got: result.text)
        }
        if let base, !base.means(mine), base.means(theirs) {
            findings.expect(
                result.means(mine), promise: .consistent, expected: "the only change", got: result.text)
        }
        // The answer was lost, so the merged record meets itself.
        let again = merge(base, result, result)
        findings.expect(
            again.means(result), promise: .repeatable, expected: result.text, got: again.text)
        guard isSymmetric else { return }
        let other = merge(base, theirs, mine)
        findings.expect(
            other.means(result), promise: .sidesAlike, expected: result.text, got: other.text)
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
