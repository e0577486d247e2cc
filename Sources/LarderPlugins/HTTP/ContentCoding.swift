import LarderBase

/// A compression of bodies that can be undone.
enum HTTPCoding {
    case gzip, deflate, brotli, zstd

    /// Reads the name of a compression in lower case.
    init?(_ name: some StringProtocol) {
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The value of `Accept-Encoding`: the compressions that are asked for, of those whose libraries are found.
    static let accepted: String = {
        let found = [(Unpacker.Format.gzip, "gzip"), (.brotli, "br")].filter { Unpacker.canUnpack($0.0) }
        // Without the field, a server may choose any compression.
        return found.isEmpty ? "identity" : found.map(\.1).joined(separator: ", ")
    }()

    /// The format of the compressed bytes.
    var format: Unpacker.Format {
        switch self {
        case .gzip: .gzip
        case .deflate: .deflate
        case .brotli: .brotli
        case .zstd: .zstd
        }
    }
}
