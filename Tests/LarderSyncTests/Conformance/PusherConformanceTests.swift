import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

@Suite struct PusherConformanceTests {
    static let batch = """
        { "use": "batch", "body": { "operations": "{operations}" }, "results": "/results", "status": "/code",
          "record": "/record",
          "operation": { "op": "{kind}", "id": "{id}", "key": "{key}", "record": "{record}", "set": "{changes}" } }
        """

    private static func pusher(_ text: String) throws -> any Pusher {
        try PullerConformanceTests.made(text, as: .pusher, PushPlan.self).pusher
    }

    @Test(arguments: [#""rest""#, batch], [true, false])
    func builtInOnesKeepTheirPromises(text: String, namesRecords: Bool) async throws {
        let suite = PusherConformance(
            try Self.pusher(text), in: RecordService(namesRecords: namesRecords),
            version: text == Self.batch ? nil : JSONPointer(steps: ["v"]), namesRecords: namesRecords)
        let broken = await suite.brokenPromises()
        #expect(broken.isEmpty, "\(broken)")
    }

    /// A pusher with a mistake around one that is right.
    private struct WrongPusher: Pusher {
        let inner: any Pusher
        let mistake: Mistake
        var most: Int { mistake == .takesNothing ? 0 : 3 }

        func push(_ changes: [PushedChange], by call: PushCall) async throws -> [WriteOutcome] {
            var outcomes: [WriteOutcome] = []
            for change in changes {
                switch mistake {
                case .forgetsKeys:
                    let other = PushedChange(
                        change.kind, id: change.id, key: change.key + "-\(UInt64.random(in: .min ... .max))",
                        record: change.record, fields: change.fields, version: change.version)
                    outcomes += try await inner.push([other], by: call)
                case .forgetsVersions:
                    let other = PushedChange(
                        change.kind, id: change.id, key: change.key, record: change.record, fields: change.fields)
                    outcomes += try await inner.push([other], by: call)
                case .believesAll:
                    let found = (try? await inner.push([change], by: call)) ?? [.unknown]
                    outcomes += found.map { $0.isUnknown ? .accepted(nil) : $0 }
                case .repeatsCalls:
                    for _ in 0..<3 {
                        let found = try await inner.push([change], by: call)
                        if !found.allSatisfy(\.isUnknown) || change.key.contains("update") {
                            outcomes += found
                            break
                        }
                    }
                    _ = try await inner.push([change], by: call)
                case .refusesSignedOut:
                    let found = try await inner.push([change], by: call)
                    outcomes += found.map { $0 == .signedOut ? .rejected(status: 401) : $0 }
                default: outcomes += try await inner.push([change], by: call)
                }
            }
            switch mistake {
            case .dropsOutcomes: outcomes.removeLast()
            case .turnsOutcomes: outcomes.reverse()
            case .refusesAll where outcomes.contains { if case .rejected = $0 { true } else { false } }:
                outcomes = outcomes.map { _ in .rejected(status: 422) }
            case .dropsNames: outcomes = outcomes.map { if case .accepted = $0 { .accepted(nil) } else { $0 } }
            case .tellsRecords:
                if outcomes.contains(where: \.isUnknown) { throw LoadError(.failed, "quince was not sent") }
            default: break
            }
            return outcomes
        }
    }

    enum Mistake: CaseIterable {
        case takesNothing, forgetsKeys, forgetsVersions, believesAll, repeatsCalls, refusesSignedOut, dropsOutcomes
        case turnsOutcomes, refusesAll, dropsNames, tellsRecords

        var promise: Promise {
            switch self {
            case .takesNothing: .traits
            case .forgetsKeys: .appliesOnce
            case .forgetsVersions: .tellsConflicts
            case .believesAll: .claimsNothing
            case .repeatsCalls: .repeatsNoSend
            case .refusesSignedOut: .tellsSignOut
            case .dropsOutcomes, .turnsOutcomes, .refusesAll: .ownOutcomes
            case .dropsNames: .tellsNames
            case .tellsRecords: .failures
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func mistakeIsFound(mistake: Mistake) async throws {
        let suite = PusherConformance(
            WrongPusher(inner: try Self.pusher(#""rest""#), mistake: mistake), in: RecordService(namesRecords: true),
            version: JSONPointer(steps: ["v"]), namesRecords: true)
        let broken = await suite.brokenPromises()
        #expect(broken.map(\.promise).contains(mistake.promise), "\(broken)")
    }
}

@Suite struct ConflictConformanceTests {
    /// The record with the higher count, or of equal ones that with the larger text.
    private static let higher: ConflictConformance.Merge = { _, mine, theirs in
        let (left, right) = (mine["count"]?.number ?? 0, theirs["count"]?.number ?? 0)
        if left != right { return left > right ? mine : theirs }
        return mine.bytes.lexicographicallyPrecedes(theirs.bytes) ? theirs : mine
    }

    @Test func soundRuleKeepsItsPromises() {
        let broken = ConflictConformance(Self.higher).brokenPromises()
        #expect(broken.isEmpty, "\(broken)")
    }

    @Test func rulePreferringOneSideIsSaidToDoSo() {
        let mine: ConflictConformance.Merge = { _, mine, _ in mine }
        #expect(ConflictConformance(isSymmetric: false, mine).brokenPromises().isEmpty)
        #expect(ConflictConformance(mine).brokenPromises().map(\.promise).contains(.sidesAlike))
    }

    @Test func mistakesAreFound() {
        let count = Locked(0)
        let wrong: [(Promise, ConflictConformance.Merge)] = [
            (.delivers, { _, _, _ in .null }),
            (
                .deterministic,
                { base, mine, theirs in
                    let isOdd = count.withLock { count in
                        count += 1
                        return count % 2 == 1
                    }
                    return isOdd ? mine : theirs
                }
            ),
            (
                .ordersAlike,
                { _, mine, theirs in
                    let sum = (mine["count"]?.number ?? 0) + (theirs["count"]?.number ?? 0)
                    return mine.setting(["count"], to: JSONText(.int(Int(sum / 2)))).setting(["title"], to: nil)
                        .setting(["tags"], to: nil).setting(["done"], to: nil).setting(["more"], to: nil)
                }
            ),
            (
                .repeatable,
                { base, mine, theirs in
                    let result = Self.higher(base, mine, theirs)
                    return result.setting(["count"], to: JSONText(.int(Int(result["count"]?.number ?? 0) + 1)))
                }
            ),
        ]
        for (promise, merge) in wrong {
            let broken = ConflictConformance(merge).brokenPromises().map(\.promise)
            #expect(broken.contains(promise), "\(promise): \(broken)")
        }
    }
}

extension WriteOutcome {
    /// Whether nobody knows whether the change was made.
    fileprivate var isUnknown: Bool {
        switch self {
        case .unknown, .notUnderstood: true
        default: false
        }
    }
}
