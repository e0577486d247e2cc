// The bytes of signed files. Those that are read may come from anybody.

extension SignedFile {
    /// Reads a file of this kind. No signature is verified: see ``signers(among:)``.
    ///
    /// - Throws: ``EditionError`` with the code `tooLarge` or `badFile`.
    public init(_ kind: Kind, reading bytes: [UInt8]) throws(EditionError) {
        guard bytes.count <= Self.mostBytes else { throw .tooLarge(kind) }
        func wrong(_ reason: String) -> EditionError {
            EditionError(.badFile, "\(kind.inWords) cannot be read: \(reason)")
        }
        var rest = bytes[...]
        func nextLine(atMost most: Int) -> String? {
            guard let end = rest.prefix(most + 1).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard line.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
            return String(decoding: line, as: UTF8.self)
        }
        guard nextLine(atMost: Self.firstLine.utf8.count) == Self.firstLine else {
            throw wrong(Self.mistake(in: bytes))
        }
        var signatures: [Signature] = []
        while true {
            guard let line = nextLine(atMost: Signature.length) else { throw wrong("a signature is not a whole line") }
            if line.isEmpty { break }
            guard let signature = Signature(line) else {
                throw wrong("a line is not the id of a key, a space, and a signature in base64")
            }
            guard signatures.count < Self.mostSignatures else {
                throw wrong("it has more than \(Self.mostSignatures) signatures")
            }
            guard !signatures.contains(where: { $0.keyID == signature.keyID }) else {
                throw wrong("two signatures are of the same key")
            }
            signatures.append(signature)
        }
        try self.init(kind, payload: Array(rest))
        self.signatures = signatures
    }

    /// The reason why bytes do not begin as a signed file does.
    private static func mistake(in bytes: [UInt8]) -> String {
        if bytes.isEmpty { return "it is empty" }
        if bytes.first == UInt8(ascii: "{") { return "it is not signed" }
        if bytes.starts(with: Array((firstLine + "\r\n").utf8)) {
            return "its line ends were changed to CR LF after it was signed"
        }
        return "its first line is not '\(firstLine)'"
    }

    /// The bytes of the file.
    public var bytes: [UInt8] {
        Array((([Self.firstLine] + signatures.map(\.line)).joined(separator: "\n") + "\n\n").utf8) + payload
    }
}

extension SignedFile.Signature {
    /// The length of a line: the id of the key, a space, and 64 bytes in base64.
    static let length = 16 + 1 + 88

    /// Reads a line. Returns nil if it is written in any other way than ``line`` writes it.
    init?(_ line: String) {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[0].utf8.allSatisfy(\.isHexadecimal),
            let bytes = Base64.bytes(of: parts[1]), bytes.count == 64
        else { return nil }
        self.init(keyID: String(parts[0]), bytes: bytes)
    }

    /// The line in the file.
    var line: String { "\(keyID) \(Base64.text(of: bytes))" }
}
