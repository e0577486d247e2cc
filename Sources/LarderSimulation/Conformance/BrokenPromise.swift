import Larder

/// A promise that a plugin does not keep, and how that was noticed.
public struct BrokenPromise: Hashable, Sendable, CustomStringConvertible {
    /// The promise.
    public let promise: Promise
    /// What was going on.
    public let situation: String
    /// What should have come of it.
    public let expected: String
    /// What came of it.
    public let got: String

    init(_ promise: Promise, _ situation: String, expected: String, got: String) {
        self.promise = promise
        self.situation = situation
        self.expected = expected
        self.got = got
    }

    /// One line: `never masks the origin's answer (a fresh copy, the origin answers 404): expected 404, got the copy`.
    public var description: String {
        "\(promise.rawValue) (\(situation)): expected \(expected), got \(got)"
    }
}

/// Collects what is found, one finding for each promise: the first.
struct Findings: Sendable {
    private(set) var broken: [BrokenPromise] = []
    var situation = ""

    /// Notes that `promise` is broken, unless `isKept`.
    mutating func expect(
        _ isKept: Bool, _ promise: Promise, _ expected: @autoclosure () -> String, got: @autoclosure () -> String
    ) {
        guard !isKept, !broken.contains(where: { $0.promise == promise }) else { return }
        broken.append(BrokenPromise(promise, situation, expected: expected(), got: got()))
    }

    mutating func add(_ found: [BrokenPromise]) {
        for one in found where !broken.contains(where: { $0.promise == one.promise }) { broken.append(one) }
    }

    /// Runs a scenario and judges what was seen; a scenario that throws breaks a promise too.
    mutating func judge<Seen: Sendable>(
        _ situation: String, _ run: () throws -> Seen, _ judge: (Seen, inout Findings) -> Void
    ) {
        self.situation = situation
        do {
            judge(try run(), &self)
        } catch let error as PolicyError {
            expect(false, .composes, "a policy that is sound", got: error.description)
        } catch let error as SimulatedWorld.Stuck {
            expect(false, .endsEverything, "that everything ends", got: error.description)
        } catch let error as SimulatedWorld.Leak {
            expect(false, .endsEverything, "that everything ends", got: error.description)
        } catch {
            expect(false, .composes, "that it can be used", got: "\(error)")
        }
    }
}
