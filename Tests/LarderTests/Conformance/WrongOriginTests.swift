import LarderFoundation
import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Origins with deliberate defects. The conformance suite finds each one, with the promise that it breaks.
@Suite struct WrongOriginTests {
    /// A loader made of a closure.
    private struct Wrong: Loader {
        var then: @Sendable (Call) async throws -> Loaded<Entry>

        func load(_ call: Call) async throws -> Loaded<Entry> { try await then(call) }
    }

    private static func origin(
        _ traits: @escaping @Sendable (inout OriginTraits) -> Void = { _ in },
        _ then: @escaping @Sendable (Context, Call) async throws -> Loaded<Entry>
    ) -> Plugin {
        .origin("wrong", "Wrong.", traits: { .with(traits) }) { context in
            Wrong(then: { try await then(context, $0) })
        }
    }

    private static func entry(_ text: String, etag: String? = nil) -> Entry {
        Entry(Data(text.utf8), Metadata(etag: etag))
    }

    private static let calls = Locked(0)

    private static let origins: [(String, Promise, Plugin)] = [
        (
            "says unchanged where no copy is known", .unchanged,
            origin { _, _ in Loaded(entry("value"), from: .revalidated) }
        ),
        (
            "says unchanged of every copy", .unchanged,
            origin { _, call in call.known == nil ? Loaded(entry("value", etag: "e1")) : try .unchanged(call) }
        ),
        (
            "says unchanged and gives another copy", .unchanged,
            origin { _, call in
                if call.known?.metadata.etag != "e1" { return Loaded(entry("value", etag: "e1")) }
                return Loaded(entry("another", etag: "e1"), from: .revalidated)
            }
        ),
        (
            "names a parameter in its error", .failures,
            origin { _, call in throw LoadError(.failed, "there is no \(call.request.parameters["id"] ?? "")") }
        ),
        (
            "names a known version in the trail", .failures,
            origin { _, call in
                call.trail.note("wrong", Trail.Event("knew", "had \("etag", call.known?.metadata.etag ?? "nothing")"))
                return Loaded(entry("value"))
            }
        ),
        ("cancels itself", .failures, origin { _, _ in throw CancellationError() }),
        (
            "sends what nobody can repeat", .repeatable,
            origin { _, _ in Loaded(entry("\(UInt64.random(in: .min ... .max))")) }
        ),
        (
            "counts calls beyond its composition", .repeatable,
            origin { _, _ in
                let number = calls.withLock { count in
                    count += 1
                    return count
                }
                return Loaded(entry("\(number)"))
            }
        ),
        (
            "takes cancellation for a failure", .cancellation,
            origin { context, _ in
                do { try await context.world.sleep(for: .seconds(1)) } catch { throw LoadError(.failed, "interrupted") }
                return Loaded(entry("value"))
            }
        ),
        (
            "ignores cancellation", .cancellation,
            origin { context, _ in
                await context.world.spawn { try? await context.world.sleep(for: .seconds(60)) }.value
                return Loaded(entry("value"))
            }
        ),
        (
            "leaves a task behind", .endsEverything,
            origin { context, _ in
                context.world.spawn { try? await context.world.sleep(for: .forever) }
                return Loaded(entry("value"))
            }
        ),
        (
            "fails though it cannot", .traits,
            origin({ $0.cannotFail = true }) { _, call in
                if call.request.parameters.isEmpty { throw LoadError.status(503) }
                return Loaded(entry("value"))
            }
        ),
    ]

    @Test(arguments: origins) func defectiveOriginFailsConformance(_ what: String, _ promise: Promise, _ plugin: Plugin)
    {
        let broken = OriginConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
        #expect(!broken.contains { $0.promise == .composes })
    }

    @Test func originWithoutRequiredSettingIsRefused() {
        let plugin = Plugin.origin("wrong", "Wrong.", Setting("needed", .text, help: "Something.")) { _, _ in
            Wrong(then: { _ in Loaded(Self.entry("value")) })
        }
        #expect(OriginConformance(plugin).brokenPromises().map(\.promise) == [.composes])
        #expect(OriginConformance(plugin, ["needed": "a"]).brokenPromises() == [])
    }
}
