import LarderFoundation

/// The same text in each compression that bodies of answers may have, made by the programs that most servers use.
enum CompressedSample: String, CaseIterable {
    case identity, gzip
    /// Deflate as HTTP defines it, with a checksum, and as some servers send it, without one.
    case deflate, bareDeflate
    case brotli
    /// Zstandard with a checksum. It is optional there.
    case zstd

    /// The text, of about 2,500 bytes.
    static let content = Data((0..<120).map { "row \($0 * $0 % 97) of the larder\n" }.joined().utf8)

    /// The value of `Content-Encoding`; nil for none.
    var name: String? {
        switch self {
        case .identity: nil
        case .gzip, .zstd: rawValue
        case .deflate, .bareDeflate: "deflate"
        case .brotli: "br"
        }
    }

    /// The number of bytes at the end that tell whether the others are right; 0 if there are none.
    var checksumSize: Int {
        switch self {
        case .gzip: 8
        case .deflate, .zstd: 4
        case .identity, .bareDeflate, .brotli: 0
        }
    }

    /// The compressed text.
    var packed: Data {
        let text =
            switch self {
            case .identity: ""
            case .gzip:
                """
                H4sIAAAAAAACA+3VTQpCMQwE4L2n6BFs+/rzjiOouBAeFMHr6wG+RdbiNiTNdJLMrOOdzum4p9fjlp6Xdb2t0/rGMmIbYrtqO4KlIViV
                uenNruZTKKuaq3obCI6icrVR767MnT8XzMFJ6M2m8p1scmocL99UeRPOKT709SLep8qbmhfxMbkzXA9BysqcorOTY4GvwpnJknjXMKaw
                D319MLOGg+FGhETwPUoHiSPFHAbHlsOrwKXhenERubJcbp4BD2ZGT5DH6rPOYanoUfmhUFHSKH6UyR6W3hIVc8o+DaJGLYfmRBurYWuk
                ie5BVxbIv8v/qMt/AC5PpO7DCQAA
                """
            case .deflate:
                """
                eNrt1U0KQjEMBOC9p+gRbPv6844jqLgQHhTB6+sBvkXW4jYkzXSSzKzjnc7puKfX45ael3W9rdP6xjJiG2K7ajuCpSFYlbnpza7mUyir
                mqt6GwiOonK1Ue+uzJ0/F8zBSejNpvKdbHJqHC/fVHkTzik+9PUi3qfKm5oX8TG5M1wPQcrKnKKzk2OBr8KZyZJ41zCmsA99fTCzhoPh
                RoRE8D1KB4kjxRwGx5bDq8Cl4XpxEbmyXG6eAQ9mRk+Qx+qzzmGp6FH5oVBR0ih+lMkelt4SFXPKPg2iRi2H5kQbq2FrpInuQVcWyL/L
                /6jLfwD/6DKb
                """
            case .bareDeflate:
                """
                7dVNCkIxDATgvafoEWz7+vOOI6i4EB4UwevrAb5F1uI2JM10ksys453O6bin1+OWnpd1va3T+sYyYhtiu2o7gqUhWJW56c2u5lMoq5qr
                ehsIjqJytVHvrsydPxfMwUnozabynWxyahwv31R5E84pPvT1It6nypuaF/ExuTNcD0HKypyis5Njga/CmcmSeNcwprAPfX0ws4aD4UaE
                RPA9SgeJI8UcBseWw6vApeF6cRG5slxungEPZkZPkMfqs85hqehR+aFQUdIofpTJHpbeEhVzyj4NokYth+ZEG6tha6SJ7kFXFsi/y/+o
                y38A
                """
            case .brotli:
                """
                G8IJ4JwJdqyTyexzeCV350Uz1sF5Yl+FvbUCCFkZjNZC73+gJsLomgp7ULOw5qBGqkJuDU5XPlTLQFDTv+33I+nzp1EolGs3ROJJkadY
                xSjnsvz0eGTUu4VoR6m+EdJJi2wNsjjXN7YZdeJTq3NSnQLpEmqUXF2XZPWYmtS7vlXyXqPvkM1NYQddax81NxJ1CtSJ1Fmt+JRb6fxd
                Z3Y0/elM6SfgPpOknUIJZ+cV7nzRpW6ZXoW8ysZO8hP+lyce
                """
            case .zstd:
                """
                KLUv/QRoXQUAMowcFMBnOEA6Lipa/p9JKZNMKfUrjsMCc33Ct+yPao45XHmp1hiu8rJXtcsQkg+JLGTRLt1OP5mlvSVUhXRkaoRap7Hk
                /7RJ9yLSQjSUkyGuemW/KpwxrRS/Fpyx2ZFffoVfeYBjIDgChmJQQBSEQ2EUicMRYaghKL39N6BddgMSQBD4EQTs97/2Ddrpt8CuoFMc
                gcQLdB9t50FV2YHfP2qCNiLCk8A6gKwC4cWQnw==
                """
            }
        if self == .identity { return Self.content }
        return Data(base64Encoded: text.filter { !$0.isWhitespace }) ?? Data()
    }
}
