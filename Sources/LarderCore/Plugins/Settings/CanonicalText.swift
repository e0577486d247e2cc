/// The text of a policy in one canonical form: JSON on one line, with the members of objects ordered by name. Policies
/// that mean the same have the same text.
struct CanonicalText {
    /// Whether `${NAME}` is written as it stands, and not as its value. A text with values is only for comparing.
    let isShown: Bool
    private(set) var bytes: [UInt8] = []
    /// Whether any value that was written came from the environment.
    private(set) var isFilled = false

    init(isShown: Bool) {
        self.isShown = isShown
        bytes.reserveCapacity(512)
    }

    /// A hash of the text. It is only comparable within this process.
    var hash: Int { Self.hash(bytes) }

    static func hash(_ bytes: [UInt8]) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    mutating func write(_ node: Node) {
        switch node.content {
        case .string(let text):
            if node.written != nil { isFilled = true }
            write(isShown ? node.written ?? text : text)
        case .list(let items): write(items) { $0.write($1) }
        case .object(let members): write(sorted: members) { text, _, value in text.write(value) }
        case .number(_, let digits) where digits != "-0" && Int(digits) != nil: bytes += digits.utf8
        case .null, .bool, .number: bytes += node.json.text(indented: false).utf8
        }
    }

    /// Adds text that is canonical already.
    mutating func write(canonical text: [UInt8]) { bytes += text }

    mutating func write(_ text: String) {
        // Most text needs no escapes. The control characters beyond ASCII, which do, begin with the bytes C2, D8 and E2.
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F && $0 != 0xC2 && $0 != 0xD8 && $0 != 0xE2
        }
        guard isPlain else {
            bytes += JSON.string(text).text().utf8
            return
        }
        bytes.append(UInt8(ascii: "\""))
        bytes += text.utf8
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func write<Item>(_ items: [Item], _ item: (inout CanonicalText, Item) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (place, element) in items.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            item(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func write(sorted members: [Node.Member], _ value: (inout CanonicalText, String, Node) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        for (place, index) in members.indices.sorted(by: { members[$0].name < members[$1].name }).enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            write(members[index].name)
            bytes.append(UInt8(ascii: ":"))
            value(&self, members[index].name, members[index].value)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
