public import Larder

/// The content of a channel: the editions on offer, the newest first, and who gets each of them.
public struct ChannelFile: Hashable, Sendable {
    /// The installations that an edition is for.
    public struct Audience: Hashable, Sendable {
        /// The rings; nil for all.
        public var rings: [String]?
        /// The share of the installations in these rings, from 0 to 1.
        public var share: Double
        /// The share of the installations that are compared with them, from 0 to 1. These keep what they have. It is at
        /// most the rest of the whole.
        public var control: Double
        /// A text that decides, together with the identity of an installation, whether it belongs to the share.
        public var salt: String

        /// Creates an audience.
        public init(rings: [String]? = nil, share: Double = 1, control: Double = 0, salt: String) {
            (self.rings, self.share, self.control, self.salt) = (rings, share, control, salt)
        }
    }

    /// One edition on offer.
    public struct Listed: Hashable, Sendable {
        /// The ``SignedFile/digest`` of the edition.
        public var digest: String
        /// The name of the edition's file, next to the channel.
        public var at: String
        /// The installations that it is for.
        public var to: Audience
        /// The limits that later judge the edition, by resource; nil if there are none.
        public var `guard`: JSON?

        /// Creates an item of a channel.
        public init(digest: String, at: String, to: Audience, guard limits: JSON? = nil) {
            (self.digest, self.at, self.to, self.guard) = (digest, at, to, limits)
        }
    }

    /// Whether a text can be the name of a channel, a ring or a file: 1 to 100 letters, digits, `.`, `_` and `-`, and no `.`
    /// at the beginning.
    public static func isName(_ text: String) -> Bool { PlainName.isValid(text) }

    /// The largest number of editions in a channel.
    public static let mostEditions = 64

    /// The name, which is also that of its editions.
    public var name: String
    /// The number of the revision. Each change of a channel has a higher one.
    public var revision: Int
    /// The time until which the channel is valid.
    public var until: Timestamp
    /// Whether installations use the emergency edition that the app carries.
    public var isEmergency: Bool
    /// The editions. An installation gets the first one that is for it.
    public var editions: [Listed]

    /// Creates a channel.
    public init(name: String, revision: Int, until: Timestamp, isEmergency: Bool = false, editions: [Listed]) {
        (self.name, self.revision, self.until, self.editions) = (name, revision, until, editions)
        self.isEmergency = isEmergency
    }

    /// Reads the payload of a signed file. No signature is verified: see ``SignedFile/signers(among:)``.
    ///
    /// - Throws: ``EditionError`` with the code `badFile`, which names the place and no value.
    public init(reading file: SignedFile) throws(EditionError) {
        guard file.kind == .channel else { throw EditionError(.badFile, "this is an edition, not a channel") }
        var reader = try ObjectReader(file)
        name = try reader.plainName("name")
        revision = try reader.count("revision")
        until = try reader.time("until")
        isEmergency = try reader.flag("emergency")
        editions = []
        for (index, value) in try reader.list("editions", atMost: Self.mostEditions).enumerated() {
            editions.append(try Listed(value, path: "$.editions[\(index)]"))
        }
        try reader.end()
    }

    /// The JSON text of the channel, which is its payload. It is the same for the same content.
    public var text: String {
        var members = [
            JSON.Member("format", .string(SignedFile.Kind.channel.rawValue)), JSON.Member("name", .string(name)),
            JSON.Member("revision", .int(revision)), JSON.Member("until", .string(until.utc)),
        ]
        if isEmergency { members.append(JSON.Member("emergency", true)) }
        members.append(JSON.Member("editions", .list(editions.map(\.json))))
        return JSON.object(members).text() + "\n"
    }

    /// Returns the channel as a file without signatures.
    ///
    /// - Throws: ``EditionError`` if a field is outside its limits, so that nobody could read the file.
    public func file() throws(EditionError) -> SignedFile {
        let file = try SignedFile(.channel, payload: Array(text.utf8))
        _ = try ChannelFile(reading: file)
        return file
    }
}

extension ChannelFile.Listed {
    fileprivate init(_ value: JSON, path: String) throws(EditionError) {
        var reader = try ObjectReader(value, of: .channel, path: path)
        let digest = try reader.digest("edition")
        let at = try reader.plainName("at")
        let to = try ChannelFile.Audience(try reader.inner("to"), digest: digest)
        let limits = reader.optional("guard")
        if let limits {
            guard case .object = limits else { throw reader.wrong("guard", "expected an object") }
        }
        try reader.end()
        self.init(digest: digest, at: at, to: to, guard: limits)
    }

    fileprivate var json: JSON {
        var members = [
            JSON.Member("edition", .string(digest)), JSON.Member("at", .string(at)),
            JSON.Member("to", to.json(digest: digest)),
        ]
        if let limits = self.guard { members.append(JSON.Member("guard", limits)) }
        return .object(members)
    }
}

extension ChannelFile.Audience {
    /// Reads an audience. Without one, an edition is for all. Without a salt, the salt is the digest.
    fileprivate init(_ reader: ObjectReader?, digest: String) throws(EditionError) {
        guard var reader else {
            self.init(salt: digest)
            return
        }
        let rings = try reader.optionalPlainNames("ring")
        let share = try reader.share("share", default: 1)
        let control = try reader.share("control", default: 0)
        let salt = try reader.optionalPlainName("salt")
        try reader.end()
        // Shares such as 0.9 and 0.1 can add up to a little more than 1.
        guard share + control <= 1.000_000_001 else {
            throw reader.wrong("control", "share and control are more than 1 together")
        }
        self.init(rings: rings, share: share, control: control, salt: salt ?? digest)
    }

    fileprivate func json(digest: String) -> JSON {
        var members: [JSON.Member] = []
        if let rings { members.append(JSON.Member("ring", .list(rings.map(JSON.string)))) }
        members.append(JSON.Member("share", Share.written(share)))
        if control > 0 { members.append(JSON.Member("control", Share.written(control))) }
        if salt != digest { members.append(JSON.Member("salt", .string(salt))) }
        return .object(members)
    }
}
