import Larder
import LarderFoundation

/// A record with the writes that wait for the service: the server's state, and what the user made of it.
struct RecordRow: Hashable, Sendable {
    /// The number of the record on this device. It stays when the service names the record.
    var number: Int64
    /// The id: the service's, the app's, or a temporary one.
    var id: String
    /// The id as it is written in the record, so that a number stays a number.
    var idText: JSONText
    /// The record as the service sent it; nil if it is not there, as far as this device knows.
    var base: JSONText?
    /// Whether the service has deleted it. The base stays as long as a write is shown on it whose outcome is not known.
    var isDeletedThere = false
    /// The version of the base, for preconditions.
    var version: JSONText?
    /// The writes that are not settled, in the order in which they were made.
    var writes: [QueuedWrite] = []
    /// The number of the full pull that has last brought the record.
    var generation: Int64 = 0
    /// The moment of the answer that has brought the base; 0 if a pull has.
    var answered: Int64 = 0
    /// The time at which the base was received, in milliseconds since 1970.
    var receivedAt: Int64 = 0
    /// The record as the user made it and the service rejected it; it is shown with `onReject: keep` until the next write.
    var rejected: JSONText?

    /// The record as the user sees it; nil if it is deleted or was never there.
    ///
    /// - Parameter idPath: the place of the id in a record.
    func shown(idPath: [String]) -> JSONText? {
        if writes.isEmpty { return rejected ?? base }
        guard let shown = writes.reduce(base, { $1.applied(to: $0) }) else { return nil }
        return shown[idPath] == idText ? shown : shown.setting(idPath, to: idText)
    }

    /// The first write that the service has not accepted.
    var first: QueuedWrite? { writes.first(where: \.isPending) }

    /// Whether nothing is left of it.
    var isGone: Bool { base == nil && writes.isEmpty && rejected == nil }
}

/// A temporary id: a text that exists nowhere else, so its uses are found by looking for it.
enum TemporaryID {
    static let prefix = "tmp-"
    private static let count = 26

    /// Makes an id of 128 random bits.
    static func make(_ random: () -> UInt64) -> String {
        var bits = (random(), random())
        var digits: [UInt8] = []
        for _ in 0..<count {
            digits.append(alphabet[Int(bits.1 & 31)])
            bits.1 = bits.1 >> 5 | (bits.0 & 31) << 59
            bits.0 >>= 5
        }
        return prefix + String(decoding: digits, as: UTF8.self)
    }

    static func isOne(_ id: String) -> Bool {
        id.utf8.count == prefix.utf8.count + count && id.hasPrefix(prefix)
            && id.utf8.dropFirst(prefix.utf8.count).allSatisfy(alphabet.contains)
    }

    /// Returns the temporary ids that occur in a text.
    static func all(in text: JSONText) -> Set<String> {
        text.bytes.withUnsafeBufferPointer { bytes in
            var found: Set<String> = []
            var (position, lastEnd) = (0, 0)
            guard let first = UnsafeRawPointer(bytes.baseAddress) else { return found }
            // The hyphen is rarer than the letters before it.
            while let hyphen = memchr(first + position, Int32(UInt8(ascii: "-")), bytes.count - position) {
                position = UnsafeRawPointer(hyphen) - first + 1
                let (start, end) = (position - prefix.utf8.count, position + count)
                if start >= lastEnd, end <= bytes.count, bytes[start..<position].elementsEqual(prefix.utf8),
                    bytes[position..<end].allSatisfy(alphabet.contains)
                {
                    found.insert(String(decoding: bytes[start..<end], as: UTF8.self))
                    (position, lastEnd) = (end, end)
                }
            }
            return found
        }
    }

    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
}
