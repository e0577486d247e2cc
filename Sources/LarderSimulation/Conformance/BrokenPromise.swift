import Larder

/// A promise that a plugin does not keep, with the situation in which this was found.
public struct BrokenPromise: Hashable, Sendable, CustomStringConvertible {
    /// The promise that is not kept.
    public let promise: Promise
    /// The situation in words.
    public let situation: String
    /// The expected result.
    public let expected: String
    /// The actual result.
    public let got: String

    /// One line: `never masks the origin's answer (a call answers 404): expected the answer, got a value`.
    public var description: String {
        "\(promise.rawValue) (\(situation)): expected \(expected), got \(got)"
    }
}

/// A collection of broken promises. It keeps the first finding for each promise.
package struct BrokenPromises: Sendable {
    package private(set) var broken: [BrokenPromise] = []
    var situation = ""

    package init() {}

    /// Records that `promise` is broken if `isKept` is false.
    package mutating func expect(
        _ isKept: Bool, promise: Promise, expected: @autoclosure () -> String, got: @autoclosure () -> String
    ) {
        guard !isKept, !broken.contains(where: { $0.promise == promise }) else { return }
        broken.append(BrokenPromise(promise: promise, situation: situation, expected: expected(), got: got()))
    }

    /// Records that work goes on two hours after a situation.
    mutating func expectNothingLeft(_ tasks: Int) {
        expect(
            tasks == 0, promise: .endsEverything, expected: "no task running two hours later", got: "\(tasks) tasks")
    }

    mutating func add(_ found: [BrokenPromise]) {
        for one in found where !broken.contains(where: { $0.promise == one.promise }) { broken.append(one) }
    }

    /// Runs a scenario and checks its result. A scenario that throws breaks a promise, too.
    package mutating func check<Seen: Sendable>(
        _ situation: String, run: () throws -> Seen, check: (Seen, inout BrokenPromises) -> Void
    ) {
        self.situation = situation
        do {
            check(try run(), &self)
        } catch let error as PolicyError {
            expect(false, promise: .composes, expected: "a valid policy", got: error.description)
        } catch let error as SimulatedWorld.Stuck {
            expect(false, promise: .endsEverything, expected: "a run that ends", got: error.description)
        } catch let error as SimulatedWorld.Leak {
            expect(false, promise: .endsEverything, expected: "a run that ends", got: error.description)
        } catch {
            expect(false, promise: .composes, expected: "a plugin that works", got: "\(error)")
        }
    }
}
