/// The durations of something that a plugin does, such as the time from a change to its acceptance.
///
/// A plugin declares a timing like a ``Counter``, lists it when the plugin is created, and records each duration with
/// ``Context/record(_:_:)``.
///
/// ```swift
/// extension Timing {
///     static let delivery = Timing("letter_delivery", "Times from the writing of a letter to its delivery")
/// }
/// ```
///
/// Durations go into the same sketches as those of loads: percentiles of many dumps together are exact to 1 %. Durations
/// beyond a day and a half count as that long. Timings with the same name are equal.
public struct Timing: Hashable, Sendable, NamedMetric {
    package static let kind = "timing"

    /// The name in dumps: `letter_delivery`.
    public let name: String
    /// A description, in one line.
    package let help: String

    /// Creates a timing of a plugin.
    ///
    /// - Parameters:
    ///   - name: lowercase words joined by underscores, without a unit, at most 64 characters.
    ///   - help: a description, in one line.
    public init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
    }
}
