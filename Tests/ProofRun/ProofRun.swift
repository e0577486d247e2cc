import Foundation
import LarderSystem

/// Checks proofs of promises by brute force. `Tests/proofs` runs it.
///
/// - `ProofRun soundness` proves random promises of random policies. It plays random histories through each policy, judges
///   them by code of its own, and tells each history that breaks a promise which is called proved, or a limit which is
///   called enough. It also plays each refutation as a scenario, which must fail, and pass with the limit that is called
///   enough.
/// - `ProofRun sharpness` changes one setting of random policies so that a promise does not hold any more, and tells each
///   such promise that is not refuted.
/// - `ProofRun records` proves promises about changes of records of random policies, plays random histories that are longer
///   than those of a proof, and tells each that breaks a promise which is called proved.
///
/// The policies are numbered, and one number always gives the same policy.
@main struct ProofRun {
    static func main() async {
        guard let options = ProofRunOptions(Array(CommandLine.arguments.dropFirst())) else {
            say("usage: ProofRun soundness|sharpness|records [--policies N] [--first N] [--histories N] [--small]")
            exit(2)
        }
        let numbers = Locked(options.first..<options.first + options.policies)
        let count = Locked(Tally())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while let number = numbers.withLock({ $0.popFirst() }) {
                        let tally = await result(of: UInt64(number), options)
                        let policies = count.withLock { count in
                            count += tally
                            return count.policies
                        }
                        for fault in tally.faults { say(fault) }
                        if policies % 50 == 0 { say("… \(policies) policies") }
                    }
                }
            }
        }
        let tally = count.withLock { $0 }
        say("\(options.kind): \(tally)")
        exit(tally.faults.isEmpty && tally.policies > 0 ? 0 : 1)
    }

    private static func result(of number: UInt64, _ options: ProofRunOptions) async -> Tally {
        do {
            switch options.kind {
            case .soundness: return try await Soundness(number, options).tally()
            case .sharpness: return try Sharpness(number, options).tally()
            case .records: return try await RecordSoundness(number, options).tally()
            }
        } catch {
            return Tally(faults: ["policy \(number): \(error)"])
        }
    }

    /// Writes a line without a buffer, so that it is seen at once.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// The numbers of things that were tried, and the faults that were found.
struct Tally: CustomStringConvertible {
    var policies = 1
    /// The promises that are called proved, and the limits that are called enough.
    var proved = 0
    var histories = 0
    var refuted = 0
    var faults: [String] = []

    init(faults: [String] = []) { self.faults = faults }

    /// Nothing yet.
    init() { policies = 0 }

    static func += (sum: inout Tally, other: Tally) {
        sum.policies += other.policies
        sum.proved += other.proved
        sum.histories += other.histories
        sum.refuted += other.refuted
        sum.faults += other.faults
    }

    var description: String {
        var parts = ["\(policies) policies"]
        if proved > 0 { parts.append("\(proved) limits called enough") }
        if histories > 0 { parts.append("\(histories) histories") }
        parts.append("\(refuted) promises refuted")
        return parts.joined(separator: ", ") + ": \(faults.count) faults"
    }
}

/// The arguments of `ProofRun`.
struct ProofRunOptions: Sendable {
    enum Kind: String { case soundness, sharpness, records }

    let kind: Kind
    private(set) var policies = 20
    /// The number of the first policy.
    private(set) var first = 1
    /// The number of histories for each policy.
    private(set) var histories = 1_000
    /// Whether policies whose proof takes long are left out.
    private(set) var isSmall = false

    init?(_ arguments: [String]) {
        guard let word = arguments.first, let kind = Kind(rawValue: word) else { return nil }
        self.kind = kind
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            if name == "--small" {
                isSmall = true
                continue
            }
            guard let number = rest.popFirst().flatMap(Int.init), number >= 0 else { return nil }
            switch name {
            case "--policies": policies = number
            case "--first": first = number
            case "--histories": histories = number
            default: return nil
            }
        }
    }
}
