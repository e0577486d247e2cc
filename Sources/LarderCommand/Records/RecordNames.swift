import Larder
import LarderReports
import LarderSync
import LarderSystem

// Ids and accounts may be private, so digests stand in their place.
extension OpenRecords {
    /// The number of digits of a digest that are shown.
    private static let digits = 12

    /// Returns the digest of a record. It is that of the key by which a store would keep it.
    func digest(of id: String, _ account: RecordAccount) -> String {
        String(wholeDigest(of: id, account).prefix(Self.digits))
    }

    func wholeDigest(of id: String, _ account: RecordAccount) -> String {
        Key(resource: account.resource, scope: account.account, parameters: ["id": id]).digest
    }

    /// Returns the name of an account: its digest, unless values may be shown.
    func name(of account: String?, _ resource: String) -> String {
        account.map { showsValues ? $0.printable : digest(ofAccount: $0, resource) } ?? "–"
    }

    func name(of account: RecordAccount) -> String { name(of: account.account, account.resource) }

    /// Returns the name of an account in JSON: as it is shown, or null for no account.
    func json(of account: String?, _ resource: String) -> JSON {
        account.map { .string(showsValues ? $0 : digest(ofAccount: $0, resource)) } ?? .null
    }

    func json(of account: RecordAccount) -> JSON { json(of: account.account, account.resource) }

    private func digest(ofAccount account: String, _ resource: String) -> String {
        String(Key(resource: resource, scope: account).digest.prefix(Self.digits))
    }

    /// Returns the time since a moment; nil if there was none.
    func age(_ time: Timestamp?) -> Duration? {
        guard let time else { return nil }
        return call.terminal.now() - time
    }
}

extension RecordState {
    /// The state in a word.
    var word: String {
        switch self {
        case .synced: "synced"
        case .pending: "waiting"
        case .conflict: "conflict"
        case .rejected: "refused"
        }
    }
}

extension JSONText {
    /// The text on one line, without characters that move a terminal's cursor.
    var shownText: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.isPrintable ? $0 : $0.properties.isWhitespace ? " " : "\u{FFFD}" }))
    }
}

extension Subcommand.Call {
    /// Writes a result whose values keep their digits.
    func print(_ json: JSONText) { terminal.print(String(decoding: json.bytes, as: UTF8.self)) }
}
