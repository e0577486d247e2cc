/// A setting of a plugin that contradicts another one of the same plugin. A plugin reports it among its traits, and the
/// policy is then refused.
///
/// ```swift
/// traits: { least, most in
///     .with {
///         if most < least { $0.contradictions = [Contradiction("most", "'most' is smaller than 'least'")] }
///     }
/// }
/// ```
public struct Contradiction: Hashable, Sendable {
    /// The name of the setting, or the names of settings that lead to it, with dots between them. The message points at it.
    package let setting: String
    /// The contradiction in words, without any value of a setting.
    package let message: String
    /// A description of the expected value; nil if the message contains it.
    package let expected: String?

    /// Creates a contradiction.
    public init(_ setting: String, _ message: String, expected: String? = nil) {
        self.setting = setting
        self.message = message
        self.expected = expected
    }
}
