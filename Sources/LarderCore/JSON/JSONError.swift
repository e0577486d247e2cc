/// A mistake in the syntax of a JSON text.
package struct JSONError: Error, Sendable {
    /// A description of the mistake. It quotes no values.
    package let message: String
    /// The syntax that is expected at this position.
    package let expected: String?
    /// The position of the mistake.
    package let position: SourcePosition
    /// Whether the text has more values than the reader allows. It may be JSON then.
    var isLimit = false
}
