/// A reason why a channel or an edition is not used.
public struct EditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of reason. New kinds may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name in events, logs and dumps.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file is not a signed file of its kind, or its content cannot be read.
        public static let badFile = Code(rawValue: "badFile")
        /// No signature of the file is that of a key which may sign it.
        public static let badSignature = Code(rawValue: "badSignature")
        /// The file is signed, but by none of the keys that the app knows.
        public static let unknownKey = Code(rawValue: "unknownKey")
        /// The channel is older than the one that is known.
        public static let oldRevision = Code(rawValue: "oldRevision")
        /// The time until which the channel is valid has passed.
        public static let expired = Code(rawValue: "expired")
        /// The file is another one than the channel names.
        public static let wrongDigest = Code(rawValue: "wrongDigest")
        /// The file is larger than 4 MB.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The edition needs another version of the app: a plugin is missing or has other settings.
        public static let needs = Code(rawValue: "needs")
        /// The edition changes a part of a policy that no edition may change.
        public static let reach = Code(rawValue: "reach")
        /// The file cannot be loaded.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The files on this device cannot be read or written now.
        public static let disk = Code(rawValue: "disk")
        /// The policies have errors.
        public static let unsound = Code(rawValue: "unsound")
    }

    /// The kind of reason.
    public let code: Code
    /// The reason in words, without any payload or value of the environment. It may quote names in policies.
    public let description: String

    /// Creates an error.
    public init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}
