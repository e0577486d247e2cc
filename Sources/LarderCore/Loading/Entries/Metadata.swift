public import LarderSystem

/// The facts about a payload. Times are wall time. Facts that the origin did not name are nil.
public struct Metadata: Hashable, Sendable {
    /// The time from which the age counts: ``confirmedAt``, less ``initialAge``. It is stored because every hit reads it.
    @usableFromInline private(set) var ageStart: Timestamp
    /// The time of ``askedAt`` in nanoseconds; `Int64.min` for nil.
    private var asked: Int64
    /// The facts that hits do not read.
    @usableFromInline private(set) var details: DetailsBox?
    /// The bits of ``spread`` and three flags, because separate fields would make every entry larger. Two flags are in the
    /// bits that are zero for all numbers up to 1, and one is in a bit that is set for all of them but zero.
    @usableFromInline var spreadAndFlags: UInt64 = 0
    /// The flag of ``isExpired``.
    private static let expiryFlag: UInt64 = 1 << 63
    /// The flag of an ``initialAge`` that is not zero. So hits need not read the details of other entries.
    @inlinable static var initialAgeFlag: UInt64 { 1 << 62 }
    /// The flag of ``isUnusedPrefetch``, in the place of the bit that every number from 2⁻⁵⁰⁰ to 1 has.
    private static let prefetchFlag: UInt64 = 1 << 61

    /// Creates the metadata of a payload that was fetched at `fetchedAt`.
    public init(
        fetchedAt: Timestamp = Timestamp(nanoseconds: 0), validatedAt: Timestamp? = nil, askedAt: Timestamp? = nil,
        initialAge: Duration = .zero, etag: String? = nil, lastModified: String? = nil, contentType: String? = nil,
        status: Int? = nil, fields: Fields = [:], variesBy: [String] = [], tags: [String] = [],
        notes: [String: Note] = [:], spread: Double = 0
    ) {
        self.init(
            fetchedAt: fetchedAt, validatedAt: validatedAt, askedAt: askedAt, initialAge: initialAge, spread: spread,
            Details(
                etag: etag, lastModified: lastModified, contentType: contentType, status: status, fields: fields,
                variesBy: variesBy.map { $0.lowercased() }, tags: tags, notes: Details.sorted(notes)))
    }

    /// - Parameter details: the other facts. Its times are set here.
    init(
        fetchedAt: Timestamp, validatedAt: Timestamp?, askedAt: Timestamp?, initialAge: Duration, spread: Double,
        _ details: Details
    ) {
        ageStart = validatedAt ?? fetchedAt
        asked = askedAt?.nanoseconds ?? .min
        self.spread = spread
        var details = details
        details.fetchedAt = validatedAt == nil ? nil : fetchedAt
        details.initialAge = max(0, initialAge.nanoseconds)
        setDetails(details)
    }

    /// Creates metadata without the facts that only validators need.
    init(ageStart: Timestamp, _ details: DetailsBox?) {
        self.ageStart = ageStart
        self.details = details
        asked = .min
        set(Self.initialAgeFlag, initialAge > .zero)
    }

    // MARK: Times

    /// The time at which the payload was last validated, or else fetched.
    public var confirmedAt: Timestamp { spreadAndFlags & Self.initialAgeFlag == 0 ? ageStart : laterThanAgeStart }

    // A function of its own, so that hits can skip it at little cost.
    @inline(never) private var laterThanAgeStart: Timestamp { ageStart + initialAge }

    /// The time at which the payload came from the origin.
    public var fetchedAt: Timestamp {
        get { details?.content.fetchedAt ?? confirmedAt }
        set { setTimes(fetchedAt: newValue, validatedAt: validatedAt) }
    }
    /// The last time at which the origin said that the payload is still current. Nil if it never did.
    public var validatedAt: Timestamp? {
        get { details?.content.fetchedAt == nil ? nil : confirmedAt }
        set { setTimes(fetchedAt: fetchedAt, validatedAt: newValue) }
    }
    /// The start time of the call whose answer is the payload, or confirms it as still current. The graph sets it. Nil
    /// if it is not known.
    public var askedAt: Timestamp? {
        get { asked == .min ? nil : Timestamp(nanoseconds: asked) }
        set { asked = newValue?.nanoseconds ?? .min }
    }
    /// The age that the payload already had when it was last validated, or else fetched: a server may answer from a
    /// cache of its own. Zero if the server did not name it. It is never negative.
    public var initialAge: Duration {
        get { .nanoseconds(details?.content.initialAge ?? 0) }
        set { changeDetails { $0.initialAge = max(0, newValue.nanoseconds) } }
    }

    /// Returns the time since the payload was last validated, or else fetched, plus its ``initialAge``. It is negative
    /// for an entry from the future.
    public func age(at now: Timestamp) -> Duration {
        .nanoseconds(ageInNanoseconds(at: now))
    }

    /// Returns the age in nanoseconds. It costs less than ``age(at:)``, which matters to validators because they run on
    /// every read.
    @inlinable @inline(__always)
    public func ageInNanoseconds(at now: Timestamp) -> Int64 {
        let (age, overflow) = now.nanoseconds.subtractingReportingOverflow(ageStart.nanoseconds)
        return !overflow && spreadAndFlags & Self.initialAgeFlag == 0 ? age : unusualAge(at: now)
    }

    /// Returns the age of an entry that has an initial age, or whose age is too long to be expressed.
    @usableFromInline @inline(never)
    func unusualAge(at now: Timestamp) -> Int64 {
        let age = now.nanoseconds(since: confirmedAt)
        return age < 0 ? age : now.nanoseconds(since: ageStart)
    }

    mutating func setTimes(fetchedAt: Timestamp, validatedAt: Timestamp?) {
        setConfirmedAt(validatedAt ?? fetchedAt)
        let first = validatedAt == nil ? nil : fetchedAt
        if details?.content.fetchedAt != first { changeDetails { $0.fetchedAt = first } }
    }

    // MARK: Facts from the origin

    /// The origin's tag of this version, for conditional requests.
    public var etag: String? {
        get { details?.content.etag }
        set { changeDetails { $0.etag = newValue } }
    }
    /// The origin's date of this version, for conditional requests.
    public var lastModified: String? {
        get { details?.content.lastModified }
        set { changeDetails { $0.lastModified = newValue } }
    }
    /// The payload's media type.
    public var contentType: String? {
        get { details?.content.contentType }
        set { changeDetails { $0.contentType = newValue } }
    }
    /// The HTTP-like status of the answer.
    public var status: Int? {
        get { details?.content.status }
        set { changeDetails { $0.status = newValue } }
    }
    /// The fields of the answer that the origin chose to keep.
    public var fields: Fields {
        get { details?.content.fields ?? Fields() }
        set { changeDetails { $0.fields = newValue } }
    }
    /// The names of the request's fields by which the answer varies, in lower case.
    public var variesBy: [String] {
        get { details?.content.variesBy ?? [] }
        set { changeDetails { $0.variesBy = newValue.map { $0.lowercased() } } }
    }
    /// The tags of the entry. All entries with a tag can be cleared together.
    public var tags: [String] {
        get { details?.content.tags ?? [] }
        set { changeDetails { $0.tags = newValue } }
    }

    /// Returns whether both are about the same arrival of a payload. An "unchanged" of the origin changes neither the
    /// time of the fetch nor the spread, which are compared.
    public func isOfSamePayload(as other: Metadata) -> Bool {
        fetchedAt == other.fetchedAt && spread == other.spread
    }

    /// Whether the origin can be asked if the payload has changed.
    package var hasCondition: Bool { etag != nil || lastModified != nil }

    // MARK: Facts from Larder and its plugins

    /// The facts that plugins noted, by name. Plugins reach theirs by their keys: see ``NoteKey``.
    ///
    /// A note is left out when its name does not have 1 to 255 bytes in UTF-8.
    package var notes: [String: Note] {
        get { Dictionary(uniqueKeysWithValues: (details?.content.notes ?? []).map { ($0.name, $0.note) }) }
        set { changeDetails { $0.setNotes(newValue) } }
    }

    /// A random number in 0 ..< 1, drawn when the payload arrived. A validator can use it so that entries saved
    /// together do not expire together.
    public var spread: Double {
        get {
            let bits = spreadAndFlags & ~Self.flags
            return bits == 0 ? 0 : Double(bitPattern: bits | Self.prefetchFlag)
        }
        set {
            let number = newValue.magnitude <= 1 ? newValue.magnitude : 1
            let bits = number < 0x1p-500 ? 0 : number.bitPattern & ~Self.flags
            spreadAndFlags = spreadAndFlags & Self.flags | bits
        }
    }
    /// Whether the copy is out of date although its windows are not over: an app said so, or the origin has sent a newer
    /// payload that could not be saved or may not be kept. Such a copy is never fresh, and is shown only when the origin
    /// fails. See ``Store/expire(_:)``.
    public var isExpired: Bool {
        get { spreadAndFlags & Self.expiryFlag != 0 }
        set { set(Self.expiryFlag, newValue) }
    }
    /// Whether ``isExpired`` or ``isUnusedPrefetch`` is set. Hits ask for both at once.
    var isMarked: Bool { spreadAndFlags & (Self.expiryFlag | Self.prefetchFlag) != 0 }
    /// Whether the payload was prefetched, and no load of a user was answered by it yet. The graph sets it, and counts by
    /// it how many prefetched copies are used.
    package internal(set) var isUnusedPrefetch: Bool {
        get { spreadAndFlags & Self.prefetchFlag != 0 }
        set { set(Self.prefetchFlag, newValue) }
    }

    /// The mark of the source that the payload came from. Only entries on their way to and from a store outside of memory
    /// have it: see ``SourcedStore``.
    package internal(set) var source: UInt64? {
        get { details?.content.source }
        set { if source != newValue { changeDetails { $0.source = newValue } } }
    }

    // MARK: Details

    /// Whether there are facts that hits do not read.
    @inlinable @inline(__always) var hasDetails: Bool { details != nil }

    /// The size of all texts, fields and notes, in bytes.
    var size: Int { details?.content.size ?? 0 }

    private mutating func changeDetails(_ change: (inout Details) -> Void) {
        var changed = details?.content ?? Details()
        change(&changed)
        setDetails(changed)
    }

    private mutating func setDetails(_ changed: Details) {
        let confirmed = confirmedAt
        details = changed == Details() ? nil : DetailsBox(changed)
        set(Self.initialAgeFlag, changed.initialAge > 0)
        setConfirmedAt(confirmed)
    }

    private mutating func setConfirmedAt(_ time: Timestamp) {
        ageStart = spreadAndFlags & Self.initialAgeFlag == 0 ? time : time - initialAge
    }

    private static var flags: UInt64 { expiryFlag | initialAgeFlag | prefetchFlag }

    private mutating func set(_ flag: UInt64, _ isSet: Bool) {
        spreadAndFlags = isSet ? spreadAndFlags | flag : spreadAndFlags & ~flag
    }

    @usableFromInline
    func note(named name: String) -> Note? {
        guard let details else { return nil }
        for note in details.content.notes where note.name == name { return note.note }
        return nil
    }

    @usableFromInline
    mutating func set(_ note: Note?, named name: String) {
        changeDetails { $0.set(note, named: name) }
    }

    /// The value that a plugin noted under `key`. Nil if there is none, or if the note has another type.
    @inlinable
    public subscript<Value>(key: NoteKey<Value>) -> Value? {
        get { note(named: key.name).flatMap { Value($0) } }
        set { set(newValue?.note, named: key.name) }
    }
}
