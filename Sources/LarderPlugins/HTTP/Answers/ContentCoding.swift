import LarderSystem

/// The compressions of bodies that can be undone.
extension Unpacker.Format {
    /// Finds the format that a field `Content-Encoding` names, in lower case.
    init?(contentCoding name: some StringProtocol) {
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The value of `Accept-Encoding`: the compressions that are asked for, of those whose libraries are found.
    static let acceptedCodings: String = {
        let found = [(Unpacker.Format.gzip, "gzip"), (.brotli, "br")].filter { Unpacker.canUnpack($0.0) }
        // Without the field, a server may choose any compression.
        return found.isEmpty ? "identity" : found.map(\.1).joined(separator: ", ")
    }()
}
