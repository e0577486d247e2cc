/// The SHA-256 digest for names and fingerprints. It is not fast, and not meant for passwords.
public struct SHA256 {
    /// Returns the digest of `bytes` in 64 hexadecimal digits.
    public static func hex(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in digest(Array(bytes)) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the digest of `bytes` in 32 bytes.
    public static func digest(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { digest($0) } }

    /// Returns the digest of `bytes` in 32 bytes. The bytes are not copied.
    public static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        // Arrays would cost a short text four times as much, and every key of a store on a disk is one.
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 8 + 64) { words in
            let state = UnsafeMutableBufferPointer(rebasing: words[..<8])
            let schedule = UnsafeMutableBufferPointer(rebasing: words[8...])
            _ = state.initialize(from: initial)
            schedule.initialize(repeating: 0)
            let end = bytes.count / 64 * 64
            rounds.withUnsafeBufferPointer { rounds in
                add(UnsafeRawBufferPointer(rebasing: bytes[..<end]), to: state, schedule: schedule, rounds: rounds)
                withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { last in
                    let size = bytes.count - end < 56 ? 64 : 128
                    last.initializeMemory(as: UInt8.self, repeating: 0)
                    last.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[end...]))
                    last[bytes.count - end] = 0x80
                    last.storeBytes(of: (UInt64(bytes.count) * 8).bigEndian, toByteOffset: size - 8, as: UInt64.self)
                    add(UnsafeRawBufferPointer(rebasing: last[..<size]), to: state, schedule: schedule, rounds: rounds)
                }
            }
            for index in state.indices { state[index] = state[index].bigEndian }
            return Array(UnsafeRawBufferPointer(state))
        }
    }

    /// Adds whole blocks of 64 bytes.
    private static func add(
        _ blocks: UnsafeRawBufferPointer, to state: UnsafeMutableBufferPointer<UInt32>,
        schedule: UnsafeMutableBufferPointer<UInt32>, rounds: UnsafeBufferPointer<UInt32>
    ) {
        for block in stride(from: 0, to: blocks.count, by: 64) {
            for word in 0..<16 {
                schedule[word] = UInt32(
                    bigEndian: blocks.loadUnaligned(fromByteOffset: block + word * 4, as: UInt32.self))
            }
            for word in 16..<64 {
                let early = schedule[word - 15]
                let late = schedule[word - 2]
                let first = turn(early, 7) ^ turn(early, 18) ^ (early >> 3)
                let second = turn(late, 17) ^ turn(late, 19) ^ (late >> 10)
                schedule[word] = schedule[word - 16] &+ first &+ schedule[word - 7] &+ second
            }
            compress(state, schedule: schedule, rounds: rounds)
        }
    }

    private static func compress(
        _ state: UnsafeMutableBufferPointer<UInt32>, schedule: UnsafeMutableBufferPointer<UInt32>,
        rounds: UnsafeBufferPointer<UInt32>
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for round in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let sum = h &+ (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) &+ choice &+ rounds[round] &+ schedule[round]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let mix = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) &+ majority
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ sum, c, b, a, sum &+ mix)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    private static func turn(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

    // The fractions of the square roots of the first 8 primes and of the cube roots of the first 64.
    private static let initial: [UInt32] = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    private static let rounds: [UInt32] = primes.map { fraction(cubeRoot(Double($0))) }

    private static let primes: [Int] = {
        var found: [Int] = []
        var candidate = 2
        while found.count < 64 {
            if found.allSatisfy({ candidate % $0 != 0 }) { found.append(candidate) }
            candidate += 1
        }
        return found
    }()

    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 0x1p32)
    }

    private static func cubeRoot(_ number: Double) -> Double {
        var root = number / 3 + 1
        for _ in 0..<64 { root -= (root * root * root - number) / (3 * root * root) }
        return root
    }
}
