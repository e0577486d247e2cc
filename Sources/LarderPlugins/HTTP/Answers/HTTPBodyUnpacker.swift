import LarderSystem
import LarderCore

/// Unpacks the body of an answer as it arrives.
///
/// It unpacks no more than the reader of the body takes, so a few bytes that unpack to very many need little memory. Where it
/// stops, the transport brings the same bytes again later.
final class HTTPBodyUnpacker {
    private static let pieceSize = 1 << 16

    private let unpacker: Unpacker
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    /// The number of bytes that were unpacked of those that will be brought again.
    private var taken = 0

    /// Creates an unpacker for a body with these compressions, in the order in which they were applied.
    ///
    /// - Throws: ``HTTPFailure`` if there are several, or if one cannot be undone.
    init(_ codings: [String]) throws(HTTPFailure) {
        let codings = codings.filter { $0 != "identity" }
        guard codings.count == 1, let format = Unpacker.Format(contentCoding: codings[0]),
            let unpacker = try? Unpacker(format)
        else { throw .undecodable }
        self.unpacker = unpacker
    }

    deinit { piece.deallocate() }

    /// Whether the body is whole up to here: the compressed stream has ended, and its checksums are right.
    var isWhole: Bool { unpacker.isWhole }

    /// Appends bytes that have arrived to a body.
    ///
    /// - Returns: the reaction of the body, and whether all bytes were taken. If not, they must be brought again, with
    ///   those that follow them, once the body is read.
    /// - Throws: ``HTTPFailure`` if the compressed stream is not valid.
    func append(
        _ bytes: UnsafeRawBufferPointer, to body: HTTPBody
    ) throws(HTTPFailure) -> (reception: HTTPBody.Reception, isTaken: Bool) {
        let skipped = min(taken, bytes.count)
        var (place, mayHaveMore) = (skipped, true)
        var reception = HTTPBody.Reception.goOn
        while place < bytes.count || mayHaveMore {
            if reception != .goOn {
                taken += place - skipped
                return (reception, false)
            }
            let progress: Unpacker.Progress
            do throws(Unpacker.Damage) {
                progress = try unpacker.unpack(UnsafeRawBufferPointer(rebasing: bytes[place...]), into: piece)
            } catch {
                throw .undecodable
            }
            place += progress.taken
            mayHaveMore = progress.written == piece.count
            if progress.written > 0 {
                reception = body.append(UnsafeRawBufferPointer(rebasing: piece[..<progress.written]))
            }
        }
        taken -= skipped
        return (reception, true)
    }
}

extension HTTPFailure {
    /// The failure of an answer whose body is not validly compressed, or by an unknown compression.
    static let undecodable = HTTPFailure(.malformed, "the body of the answer cannot be decompressed")
}
