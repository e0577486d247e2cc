/// The error of a use of records.
///
/// Errors of the disk and of the database are thrown as they are.
public struct RecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors. New kinds may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The policy of the resource has no section `records`, or there is no such resource.
        public static let noRecords = Code(rawValue: "noRecords")
        /// There is no record of this id.
        public static let noRecord = Code(rawValue: "noRecord")
        /// There is a record of this id already.
        public static let exists = Code(rawValue: "exists")
        /// The value is not written as a JSON object, or lacks an id where one is needed.
        public static let unsuitable = Code(rawValue: "unsuitable")
        /// The record does not decode as the type that was asked for.
        public static let undecodable = Code(rawValue: "undecodable")
        /// The queue of unsent changes is full: see `capacity` and `most` of the section `outbox`.
        public static let full = Code(rawValue: "full")
        /// The record is too large to be kept, together with what the service has of it or with its unsent changes.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The policy lacks the `pull` or `push` by which the records would be brought together with a service.
        public static let notSynced = Code(rawValue: "notSynced")
        /// The service's answer cannot be right.
        public static let badAnswer = Code(rawValue: "badAnswer")
        /// There is no network, or the pantry was closed meanwhile.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The policy's origin works for an account, and nobody is signed in.
        public static let notSignedIn = Code(rawValue: "notSignedIn")
    }

    /// The kind of the error.
    public let code: Code
    /// The reason in words, without ids and values.
    public let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    static let tooLarge = RecordError(
        .tooLarge,
        "the record is too large: with what the service has of it, it takes more than "
            + "\(RecordDatabase.longestRow / 1_000_000) MB")

    init(_ refusal: WriteRefusal) {
        switch refusal {
        case .noRecord: self.init(.noRecord, "there is no record of this id")
        case .exists: self.init(.exists, "there is a record of this id already")
        case .noObject: self.init(.unsuitable, "the value is not a JSON object")
        }
    }
}
