import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Validators that are wrong on purpose: each is caught by the suite of its kind, with the promise it breaks.
@Suite struct WrongValidatorTests {
    /// A validator made of closures.
    private struct Wrong: Validator {
        var arrives: @Sendable (inout Entry, Arrival) -> Refusal? = { _, _ in nil }
        var admission: @Sendable (Arrival) -> Admission = { _ in .keep }
        var permits: @Sendable (Metadata, Timestamp) -> Permissions = { _, _ in Permissions(.all) }
        var permitRule: PermitRule?

        func admit(_ entry: inout Entry, from arrival: Arrival, for request: Request) throws(Refusal) -> Admission {
            if let refusal = arrives(&entry, arrival) { throw refusal }
            return admission(arrival)
        }

        func permit(_ metadata: Metadata, for request: Request, at now: Timestamp) -> Permissions {
            permits(metadata, now)
        }
    }

    private static func admitting(
        _ traits: @escaping @Sendable (inout ValidatorTraits) -> Void = { _ in },
        _ arrives: @escaping @Sendable (inout Entry, Arrival) -> Refusal?
    ) -> Plugin {
        .validator("wrong", "Wrong.", traits: { .with(traits) }) { _ in Wrong(arrives: arrives) }
    }

    private static func permitting(
        _ traits: @escaping @Sendable (inout ValidatorTraits) -> Void = { _ in },
        _ permits: @escaping @Sendable (Metadata, Timestamp) -> Permissions
    ) -> Plugin {
        .validator("wrong", "Wrong.", traits: { .with(traits) }) { _ in Wrong(permits: permits) }
    }

    private static let all = Permissions(.all)
    private static let old = Permissions(.all).refusing(.showing, "old")
    private static let hour = Duration.seconds(3_600)
    private static let freshForAnHour: Permissions = {
        var permissions = all
        permissions.freshFor = hour
        return permissions
    }()

    private static let validators: [(String, Promise, Plugin)] = [
        (
            "has a rule that permits more than it does", .rule,
            .validator("wrong", "Wrong.", traits: { .with { $0.showsFor = hour } }) { _ in
                Wrong(permits: { $0.age(at: $1) < hour ? all : old }, permitRule: .everything)
            }
        ),
        (
            "has a rule that knows no end of freshness", .rule,
            .validator("wrong", "Wrong.") { _ in
                Wrong(permits: { _, _ in freshForAnHour }, permitRule: .everything)
            }
        ),
        (
            "has a window with its end in it", .halfOpen,
            permitting { copy, now in copy.age(at: now) >= .zero && copy.age(at: now) <= hour ? all : old }
        ),
        (
            "is fresh for longer than it says", .halfOpen,
            permitting { copy, _ in
                var permissions = all
                permissions.freshFor = hour
                return copy.etag == nil ? permissions : all
            }
        ),
        (
            "permits more later", .narrows,
            permitting { copy, now in copy.age(at: now) < hour ? old : all }
        ),
        (
            "tells age by the fetching alone", .age,
            permitting { copy, now in
                let age = now - copy.fetchedAt
                return age >= .zero && age < hour ? all : old
            }
        ),
        (
            "takes what is from the future as fresh", .age,
            permitting { copy, now in copy.age(at: now) < hour ? all : old }
        ),
        (
            "tells age by a clock of its own", .deterministic,
            .validator("wrong", "Wrong.") { context in
                Wrong(permits: { copy, _ in copy.age(at: context.world.now) < hour ? all : old })
            }
        ),
        (
            "tells age by the last use", .deterministic,
            .validator("wrong", "Wrong.") { _ in
                let last = Locked<Timestamp?>(nil)
                return Wrong(permits: { _, now in
                    last.withLock { last in
                        defer { last = now }
                        return last.map { now - $0 >= .zero && now - $0 < hour } ?? true ? all : old
                    }
                })
            }
        ),
        (
            "admits every other payload", .deterministic,
            .validator("wrong", "Wrong.") { _ in
                let count = Locked(0)
                return Wrong(arrives: { _, _ in
                    count.withLock {
                        $0 += 1; return $0 % 2 == 0 ? Refusal("not this one") : nil
                    }
                })
            }
        ),
        (
            "refuses uses without a reason", .reasons,
            permitting { copy, now in copy.age(at: now) >= .zero && copy.age(at: now) < hour ? all : Permissions([]) }
        ),
        ("refuses payloads without a reason", .reasons, admitting { _, _ in Refusal("") }),
        (
            "shows what it refuses", .reasons,
            admitting { entry, _ in Refusal("no: " + String(decoding: entry.payload.bytes.prefix(40), as: UTF8.self)) }
        ),
        (
            "refuses from the store what it admitted", .consistent,
            admitting { _, arrival in arrival == .store ? Refusal("too late") : nil }
        ),
        (
            "refuses what it admitted when the origin calls it unchanged", .consistent,
            admitting { _, arrival in arrival == .unchanged ? Refusal("too late") : nil }
        ),
        (
            "lets a copy be kept and later only be used", .consistent,
            .validator("wrong", "Wrong.") { _ in Wrong(admission: { $0 == .store ? .useOnly : .keep }) }
        ),
        (
            "lets every other payload be kept", .deterministic,
            .validator("wrong", "Wrong.") { _ in
                let count = Locked(0)
                return Wrong(admission: { _ in
                    count.withLock {
                        $0 += 1; return $0 % 2 == 0 ? .useOnly : .keep
                    }
                })
            }
        ),
        (
            "removes the notes of others", .keepsNotes,
            admitting { entry, _ in
                entry.metadata.notes = [:]
                return nil
            }
        ),
        (
            "removes the notes of others from unchanged entries", .keepsNotes,
            admitting { entry, arrival in
                if arrival == .unchanged { entry.metadata.notes = [:] }
                return nil
            }
        ),
        (
            "forgets how old a payload was on arrival", .age,
            permitting { copy, now in now - copy.confirmedAt >= .zero && now - copy.confirmedAt < hour ? all : old }
        ),
        (
            "admits what it then permits for nothing", .consistent,
            permitting { _, _ in all.refusing(.all, "never") }
        ),
        (
            "changes payloads", .leavesPayload,
            admitting { entry, _ in
                entry.payload = Payload(entry.payload.bytes + Data([0]))
                return nil
            }
        ),
        (
            "makes copies younger", .leavesPayload,
            admitting { entry, _ in
                entry.metadata.validatedAt = entry.metadata.fetchedAt + .seconds(60)
                return nil
            }
        ),
        ("claims to notice damage", .traits, admitting({ $0.noticesDamage = true }) { _, _ in nil }),
        (
            "lets copies be shown for longer than it says", .traits,
            permitting({ $0.showsFor = .seconds(1_800) }) { copy, now in
                copy.age(at: now) >= .zero && copy.age(at: now) < hour ? all : old
            }
        ),
        (
            "lets stale copies be shown for longer than it says", .traits,
            permitting({ $0.showsStaleFor = .zero }) { copy, now in
                if copy.age(at: now) >= .zero, copy.age(at: now) < .seconds(60) { return all }
                return copy.age(at: now) < hour ? all.refusing(.fresh, "old") : old
            }
        ),
    ]

    @Test(arguments: validators) func defectiveValidatorFailsConformance(
        _ what: String, _ promise: Promise, _ plugin: Plugin
    ) {
        let broken = ValidatorConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
        #expect(!broken.contains { $0.promise == .composes })
    }

    @Test func correctValidatorPassesConformance() {
        let plugin = Self.permitting { copy, now in
            copy.age(at: now) >= .zero && copy.age(at: now) < Self.hour ? Self.all : Self.old
        }
        #expect(ValidatorConformance(plugin).brokenPromises() == [])
    }
}
