import LarderSystem

/// The fields in the head of an encoded entry.
struct EncodedFields {
    enum Number: UInt8 {
        case key = 1
        case fetchedAt, validatedAt, etag, lastModified, contentType, tag
        case spread = 10
        case length, expired, note, variesBy, askedAt, initialAge, status, field, unusedPrefetch, source
    }

    private enum NoteKind: UInt8 {
        case number = 1
        case text, bytes
    }

    private(set) var bytes: [UInt8] = []
    private var position = 0

    init(bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    // MARK: Writing

    mutating func add(_ metadata: Metadata) {
        let details = metadata.details?.content ?? Metadata.Details()
        add(.fetchedAt, metadata.fetchedAt.nanoseconds)
        if let time = metadata.validatedAt { add(.validatedAt, time.nanoseconds) }
        if let time = metadata.askedAt { add(.askedAt, time.nanoseconds) }
        if details.initialAge > 0 { add(.initialAge, details.initialAge) }
        if let text = details.etag { add(.etag, text) }
        if let text = details.lastModified { add(.lastModified, text) }
        if let text = details.contentType { add(.contentType, text) }
        if let status = details.status { add(.status, Int64(status)) }
        for field in details.fields { add(.field, field.name + ":" + field.value) }
        for name in details.variesBy { add(.variesBy, name) }
        for tag in details.tags { add(.tag, tag) }
        for note in details.notes { add(note) }
        for note in details.laterNotes { add(.note, Self.named(note.name, note.kind) + note.value) }
        add(.spread, metadata.spread.bitPattern)
        if metadata.isExpired { add(.expired, [1]) }
        if metadata.isUnusedPrefetch { add(.unusedPrefetch, [1]) }
        if let source = details.source { add(.source, source) }
        for fact in details.laterFacts { add(fact.number, fact.value) }
    }

    mutating func add(_ number: Number, _ text: String) { add(number, Array(text.utf8)) }

    mutating func add(_ number: Number, _ value: some FixedWidthInteger) {
        add(number, withUnsafeBytes(of: value.littleEndian, Array.init))
    }

    private mutating func add(_ number: Number, _ value: [UInt8]) { add(number.rawValue, value) }

    private mutating func add(_ number: UInt8, _ value: [UInt8]) {
        bytes.append(number)
        bytes += withUnsafeBytes(of: UInt32(clamping: value.count).littleEndian, Array.init)
        bytes += value
    }

    /// Adds a note. Its value consists of the length of the name in one byte, the name, the kind of the note in one
    /// byte, and the value of the note.
    private mutating func add(_ note: Metadata.NamedNote) {
        switch note.note {
        case .number(let number):
            let value = withUnsafeBytes(of: number.littleEndian, Array.init)
            add(.note, Self.named(note.name, NoteKind.number.rawValue) + value)
        case .text(let text): add(.note, Self.named(note.name, NoteKind.text.rawValue) + text.utf8)
        case .bytes(let bytes): add(.note, Self.named(note.name, NoteKind.bytes.rawValue) + bytes)
        }
    }

    private static func named(_ name: String, _ kind: UInt8) -> [UInt8] {
        [UInt8(name.utf8.count)] + name.utf8 + [kind]
    }

    // MARK: Reading

    /// Returns the facts in the fields: the text of the key, the length of the payload and the metadata.
    consuming func decoded() -> (owner: String?, length: Int?, metadata: Metadata) {
        var (owner, length): (String?, Int?) = (nil, nil)
        var (fetchedAt, validatedAt, askedAt): (Timestamp, Timestamp?, Timestamp?) = (.init(nanoseconds: 0), nil, nil)
        var (initialAge, spread, isExpired, isUnusedPrefetch) = (Duration.zero, 0.0, false, false)
        var details = Metadata.Details()
        var notes: [String: Note] = [:]
        while let (number, value) = next() {
            switch Number(rawValue: number) {
            case .key: owner = Self.text(value)
            case .length: length = Int(clamping: Self.signed(value))
            case .fetchedAt: fetchedAt = Timestamp(nanoseconds: Self.signed(value))
            case .validatedAt: validatedAt = Timestamp(nanoseconds: Self.signed(value))
            case .askedAt: askedAt = Timestamp(nanoseconds: Self.signed(value))
            case .initialAge: initialAge = .nanoseconds(Self.signed(value))
            case .spread:
                let number = Double(bitPattern: UInt64(bitPattern: Self.signed(value)))
                spread = (0..<1).contains(number) ? number : 0
            case .expired: isExpired = true
            case .unusedPrefetch: isUnusedPrefetch = true
            case .source: details.source = Self.number(value)
            case .etag: details.etag = Self.text(value)
            case .lastModified: details.lastModified = Self.text(value)
            case .contentType: details.contentType = Self.text(value)
            case .status: details.status = Int(clamping: Self.signed(value))
            case .field: Self.read(field: value, into: &details.fields)
            case .variesBy: details.variesBy.append(Self.text(value).lowercased())
            case .tag: details.tags.append(Self.text(value))
            case .note: Self.read(note: value, into: &notes, &details.laterNotes)
            case nil: details.laterFacts.append(.init(number: number, value: Array(value)))
            }
        }
        details.laterNotes.removeAll { notes[$0.name] != nil }
        details.notes = Metadata.Details.sorted(notes)
        var metadata = Metadata(
            fetchedAt: fetchedAt, validatedAt: validatedAt, askedAt: askedAt, initialAge: initialAge, spread: spread,
            details)
        metadata.isExpired = isExpired
        metadata.isUnusedPrefetch = isUnusedPrefetch
        return (owner, length, metadata)
    }

    private mutating func next() -> (UInt8, ArraySlice<UInt8>)? {
        guard bytes.count - position >= 5 else { return nil }
        let count = Int(clamping: UInt32(littleEndian: Self.number(bytes[position + 1..<position + 5])))
        let start = position + 5
        guard count <= bytes.count - start else { return nil }
        defer { position = start + count }
        return (bytes[position], bytes[start..<start + count])
    }

    /// Reads a field of the answer. Leaves it out if its name or its value is not allowed.
    private static func read(field: ArraySlice<UInt8>, into fields: inout Fields) {
        let parts = field.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let field = Fields.Field(text(parts[0]), text(parts[1])) else { return }
        fields.add(field)
    }

    /// Reads a note. Leaves it out if it is damaged. Keeps the bytes of a note of a later kind.
    private static func read(
        note field: ArraySlice<UInt8>, into notes: inout [String: Note], _ laterNotes: inout [Metadata.LaterNote]
    ) {
        var rest = field
        guard let count = rest.popFirst(), count > 0, rest.count > count,
            let name = String(validating: rest.prefix(Int(count)), as: UTF8.self)
        else { return }
        let value = rest.dropFirst(Int(count) + 1)
        let kind = rest[rest.startIndex + Int(count)]
        switch NoteKind(rawValue: kind) {
        case .number:
            if value.count == MemoryLayout<Int64>.size { notes[name] = .number(signed(value)) }
        case .text: notes[name] = .text(text(value))
        case .bytes: notes[name] = .bytes(Array(value))
        case nil: laterNotes.append(.init(name: name, kind: kind, value: Array(value)))
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func signed(_ bytes: ArraySlice<UInt8>) -> Int64 { Int64(littleEndian: number(bytes)) }

    /// Returns the number with these bytes. Missing bytes count as zero.
    static func number<Number: FixedWidthInteger>(_ bytes: some Sequence<UInt8>) -> Number {
        var number = Number.zero
        withUnsafeMutableBytes(of: &number) { buffer in
            for (index, byte) in bytes.prefix(buffer.count).enumerated() { buffer[index] = byte }
        }
        return number
    }
}
