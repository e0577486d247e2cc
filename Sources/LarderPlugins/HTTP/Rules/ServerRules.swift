import LarderSystem
import LarderCore

/// The rules of a server for keeping and showing its answer.
///
/// They do not depend on the settings of a policy, so that a changed policy applies to the copies that are kept. They
/// are noted with the entry, because its fields must not be read again for each hit. Reading a rule allocates nothing.
struct ServerRules: Hashable, NoteValue {
    /// The rules without a number. Those with the name of a directive stand in `Cache-Control`.
    struct Flags: OptionSet, Hashable {
        let rawValue: UInt16

        /// The server forbids to keep the answer.
        static let noStore = Flags(rawValue: 1)
        static let noCache = Flags(rawValue: 2)
        static let mustRevalidate = Flags(rawValue: 4)
        static let proxyRevalidate = Flags(rawValue: 8)
        static let isPrivate = Flags(rawValue: 16)
        static let isPublic = Flags(rawValue: 32)
        static let immutable = Flags(rawValue: 64)
        /// The request had credentials.
        static let isAuthorized = Flags(rawValue: 128)
        static let setsCookie = Flags(rawValue: 256)
        /// The answer's status may be kept if the server names no lifetime.
        static let isCacheable = Flags(rawValue: 512)
        /// The answer matches no other request.
        static let variesByAll = Flags(rawValue: 1_024)
        /// A redirect led to the answer. See ``redirectLimit(shared:)``.
        static let isRedirected = Flags(rawValue: 2_048)
        /// One of the redirects is for one user.
        static let isRedirectedForOne = Flags(rawValue: 4_096)
        /// One of the redirects is temporary, and its server does not say for how long.
        static func isRedirectedForNow(shared: Bool) -> Flags { Flags(rawValue: shared ? 8_192 : 16_384) }
        static let mustUnderstand = Flags(rawValue: 32_768)
    }

    /// The places of the numbers.
    private enum Place: Int {
        case maxAge, sharedMaxAge, expires, sinceModified, whileRevalidating, onError, redirect, sharedRedirect
    }

    private static let version: UInt8 = 2
    private static let head = 3
    private static let size = head + 8 * 4
    /// The number that stands for a rule that the server did not give.
    private static let none = UInt32.max

    /// A version, the flags in 2 bytes and eight numbers of seconds in 4 bytes each.
    private var bytes: [UInt8]

    var note: Note { .bytes(bytes) }

    init?(_ note: Note) {
        guard case .bytes(let bytes) = note, bytes.count == Self.size, bytes[0] == Self.version else { return nil }
        self.bytes = bytes
    }

    /// Creates the rules of redirects.
    ///
    /// - Parameters:
    ///   - limit: the age of a copy in seconds from which the redirects are not fresh any more; nil for no limit.
    ///   - sharedLimit: the same in a shared cache.
    init(redirects flags: Flags, limit: Int64?, sharedLimit: Int64?) {
        self.init()
        self.flags = flags.union(.isRedirected)
        self[.redirect] = limit
        self[.sharedRedirect] = sharedLimit
    }

    private init() {
        bytes = [Self.version] + Array(repeating: 0, count: Self.head - 1)
        bytes += Array(repeating: 0xFF, count: Self.size - Self.head)
    }

    /// Reads the rules from an answer, and from the redirects that led to it.
    ///
    /// - Parameter request: the request that was answered; nil if it is not known.
    init(_ metadata: Metadata, for request: Request?) {
        self.init()
        let fields = metadata.fields
        let control = CacheControl(fields.all("cache-control"))
        self[.maxAge] = control.maxAge
        self[.sharedMaxAge] = control.sharedMaxAge
        self[.whileRevalidating] = control.staleWhileRevalidate
        self[.onError] = control.staleIfError
        readDates(metadata, fields)
        setFlags(control, metadata: metadata, request: request)
        if let redirects = metadata[.redirectRules] {
            flags.formUnion(redirects.flags)
            self[.redirect] = redirects[.redirect]
            self[.sharedRedirect] = redirects[.sharedRedirect]
        }
    }

    private mutating func readDates(_ metadata: Metadata, _ fields: Fields) {
        let arrived = metadata.validatedAt ?? metadata.fetchedAt
        // The clock of the server is compared only with itself.
        let date = fields["date"].flatMap { HTTPDates.parse($0, now: arrived) } ?? arrived
        for text in fields.all("expires") {
            // A text that is no date stands for a time in the past.
            let seconds = HTTPDates.parse(text, now: arrived).map { ($0 - date).nanoseconds / 1_000_000_000 } ?? 0
            self[.expires] = min(self[.expires] ?? HTTPText.mostSeconds, max(0, seconds))
        }
        if let modified = metadata.lastModified.flatMap({ HTTPDates.parse($0, now: arrived) }), modified < date {
            self[.sinceModified] = min(HTTPText.mostSeconds, (date - modified).nanoseconds / 1_000_000_000)
        }
    }

    private mutating func setFlags(_ control: CacheControl, metadata: Metadata, request: Request?) {
        var flags = control.flags
        let status = metadata.status ?? 200
        if flags.contains(.mustUnderstand) {
            // A cache that knows the status heeds this instead of `no-store`.
            flags = Self.known.contains(status) ? flags.subtracting(.noStore) : flags.union(.noStore)
        }
        if Self.cacheable.contains(status) { flags.insert(.isCacheable) }
        // Larder keeps whole answers only. An error is never kept, because it does not arrive as an entry.
        if !(200..<400 ~= status) || status == 206 || status == 304 { flags.insert(.noStore) }
        if request?.fields["authorization"] != nil || metadata[.isAuthorized] != nil { flags.insert(.isAuthorized) }
        if metadata.fields.all("vary").contains(where: { HTTPVary.names($0).contains("*") }) {
            flags.insert(.variesByAll)
        }
        if metadata[.setsCookie] != nil { flags.insert(.setsCookie) }
        self.flags = flags
    }

    /// The statuses that may be kept without a word of the server about it, of those that are no errors.
    private static let cacheable: Set<Int> = [200, 203, 204, 300, 301, 308]
    /// The statuses whose rules for caches are known.
    private static let known: Set<Int> = [200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308]

    // MARK: The rules

    private(set) var flags: Flags {
        get { Flags(rawValue: UInt16(bytes[1]) | UInt16(bytes[2]) << 8) }
        set {
            bytes[1] = UInt8(truncatingIfNeeded: newValue.rawValue)
            bytes[2] = UInt8(truncatingIfNeeded: newValue.rawValue >> 8)
        }
    }
    /// The value of `max-age` in seconds.
    var maxAge: Int64? { self[.maxAge] }
    /// The value of `s-maxage` in seconds.
    var sharedMaxAge: Int64? { self[.sharedMaxAge] }
    /// The time from `Date` to `Expires` in seconds.
    var expires: Int64? { self[.expires] }
    /// The time from `Last-Modified` to `Date` in seconds.
    var sinceModified: Int64? { self[.sinceModified] }
    /// The value of `stale-while-revalidate` in seconds.
    var whileRevalidating: Int64? { self[.whileRevalidating] }
    /// The value of `stale-if-error` in seconds.
    var onError: Int64? { self[.onError] }

    /// The age of a copy in seconds from which the redirects that led to its answer are not fresh any more; nil for no
    /// limit.
    func redirectLimit(shared: Bool) -> Int64? { self[shared ? .sharedRedirect : .redirect] }

    /// Whether an answer with a status means the same the next time.
    static func isLasting(_ status: Int) -> Bool { cacheable.contains(status) }

    /// How long the server says that the answer is fresh, in seconds; nil if it does not say.
    func lifetime(shared: Bool) -> Int64? { (shared ? sharedMaxAge : nil) ?? maxAge ?? expires }

    /// The reason why the answer is for the user only who asked; nil if it is not.
    var reasonForOne: String? {
        if flags.contains(.isPrivate) { return "http private" }
        let isForAll = flags.contains(.isPublic) || sharedMaxAge != nil
        // The flag of a redirect is no permission to keep the answer.
        let isForAuthorized = isForAll || flags.contains(.mustRevalidate) && !flags.contains(.isRedirected)
        if flags.contains(.isAuthorized), !isForAuthorized { return "http authorization" }
        if flags.contains(.setsCookie), !isForAll { return "http set-cookie" }
        return flags.contains(.isRedirectedForOne) ? "http redirect" : nil
    }

    /// Whether the server says how long the answer is fresh.
    func isExplicit(shared: Bool) -> Bool { lifetime(shared: shared) != nil }

    private subscript(place: Place) -> Int64? {
        get {
            let start = Self.head + place.rawValue * 4
            let number = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << (8 * $1) }
            return number == Self.none ? nil : Int64(number)
        }
        set {
            let start = Self.head + place.rawValue * 4
            let number = newValue.map { UInt32(clamping: $0) } ?? Self.none
            for byte in 0..<4 { bytes[start + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
        }
    }
}

extension NoteKey where Value == ServerRules {
    /// The rules of the server for the entry.
    static var serverRules: NoteKey { NoteKey("http") }
    /// The rules of the redirects that led to the answer.
    static var redirectRules: NoteKey { NoteKey("http.redirects") }
}
