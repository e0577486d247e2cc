import LarderFoundation
import Larder
import LarderSimulation
import LarderStories
import Testing

/// Plugins that are wrong on purpose: each is caught by the suite of its kind, with the promise it breaks.
@Suite struct WrongPluginTests {
    /// A loader made of closures.
    private struct Wrong: Loader {
        var then: @Sendable (Call) async throws -> Loaded<Entry>

        func load(_ call: Call) async throws -> Loaded<Entry> { try await then(call) }
    }

    private static func strategy(
        _ then: @escaping @Sendable (Sides, Call) async throws -> Loaded<Entry>
    ) -> Plugin {
        .strategy("wrong", "Wrong.") { sides in Wrong(then: { try await then(sides, $0) }) }
    }

    private static func wrapper(
        _ then: @escaping @Sendable (Context, any Loader, Call) async throws -> Loaded<Entry>
    ) -> Plugin {
        .wrapper("wrong", "Wrong.") { context, inner in Wrong(then: { try await then(context, inner, $0) }) }
    }

    private static let strategies: [(String, Promise, Plugin)] = [
        (
            "shows on error what is permitted for other uses only", .uses,
            strategy { sides, call in
                do { return try await sides.live.load(call) } catch let error as LoadError where !error.isAnswer {
                    if let copy = try await sides.copy(call)?.shown(for: .showing, fellBack: true) { return copy }
                    throw error
                }
            }
        ),
        (
            "masks a 404 with the copy", .answers,
            strategy { sides, call in
                do { return try await sides.live.load(call) } catch let error as LoadError {
                    if let copy = try await sides.copy(call)?.shown(for: [.fresh, .onError], fellBack: true) {
                        return copy
                    }
                    throw error
                }
            }
        ),
        (
            "loses the origin's error", .ownError,
            strategy { sides, call in
                do { return try await sides.load(call) } catch let error as CancellationError { throw error } catch {
                    throw LoadError(.failed, "something went wrong")
                }
            }
        ),
        (
            "calls the origin twice", .oneFlight,
            strategy { sides, call in
                _ = try? await sides.live.load(call)
                return try await sides.load(call)
            }
        ),
        (
            "swallows cancellation", .cancellation,
            strategy { sides, call in
                do { return try await sides.load(call) } catch is CancellationError {
                    throw LoadError(.failed, "cancelled")
                }
            }
        ),
        (
            "ignores the caller's deadline", .deadline,
            strategy { sides, call in
                var patient = call
                patient.deadline = nil
                return try await sides.load(patient)
            }
        ),
        (
            "does not say that a copy stands in", .label,
            strategy { sides, call in
                do { return try await sides.live.load(call) } catch let error as LoadError where !error.isAnswer {
                    guard let copy = try await sides.copy(call)?.shown(for: [.fresh, .onError]) else { throw error }
                    return copy
                }
            }
        ),
        (
            "shows a stale copy without refreshing it", .refreshes,
            strategy { sides, call in
                if let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating]) { return copy }
                return try await sides.load(call)
            }
        ),
        (
            "shows a stale copy a moment later, as if a call had failed, without refreshing it", .refreshes,
            strategy { sides, call in
                if let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating], fellBack: true) {
                    try await sides.world.sleep(for: .milliseconds(1))
                    return copy
                }
                return try await sides.load(call)
            }
        ),
        (
            "gives its refreshes up before they can be answered", .saves,
            strategy { sides, call in
                if let copy = try await sides.copy(call)?.shown(for: [.fresh, .whileRevalidating]) {
                    if copy.freshness == .stale { sides.refresh(call, within: .milliseconds(1)) }
                    return copy
                }
                return try await sides.load(call)
            }
        ),
        (
            "thinks for longer than its caller has time once the call failed", .deadline,
            strategy { sides, call in
                do { return try await sides.live.load(call) } catch {
                    try await sides.world.sleep(for: .seconds(1))
                    return try await sides.load(call)
                }
            }
        ),
        (
            "waits for a slow store whatever the caller's deadline", .deadline,
            strategy { sides, call in
                var patient = call
                patient.deadline = nil
                if let copy = try await sides.copy(patient)?.shown(for: .fresh) { return copy }
                return try await sides.load(call)
            }
        ),
        (
            "calls a fresh copy stale", .delivers,
            strategy { sides, call in
                if let copy = try await sides.copy(call)?.shown(for: .fresh) {
                    return Loaded(copy.value, from: copy.source, freshness: .stale, age: copy.age, isStored: true)
                }
                return try await sides.load(call)
            }
        ),
        (
            "passes a copy off as the origin's answer", .delivers,
            strategy { sides, call in
                if let copy = try await sides.copy(call)?.shown(for: .showing) { return Loaded(copy.value) }
                return try await sides.load(call)
            }
        ),
        (
            "gives another value out as what a side gave it", .delivers,
            strategy { sides, call in try await sides.load(call).map { _ in Entry(Data("other".utf8)) } }
        ),
        (
            "lets no copy stand in", .standIn,
            strategy { sides, call in try await sides.live.load(call) }
        ),
        (
            "leaves a refresh running for ever", .endsEverything,
            strategy { sides, call in
                sides.world.spawn { try? await sides.world.sleep(for: .forever) }
                return try await sides.load(call)
            }
        ),
    ]

    private static let wrappers: [(String, Promise, Plugin)] = [
        (
            "repeats a change", .repeatsNoSend,
            .wrapper("wrong", "Wrong.", traits: { .with { $0.tries = (2, .zero) } }) { _, inner in
                Wrong(then: { call in
                    do { return try await inner.load(call) } catch let error as LoadError where error.isAnswer {
                        throw error
                    } catch let error as CancellationError {
                        throw error
                    } catch {
                        return try await inner.load(call)
                    }
                })
            }
        ),
        (
            "tries an answer again", .answersPass,
            wrapper { _, inner, call in
                do { return try await inner.load(call) } catch { return try await inner.load(call) }
            }
        ),
        (
            "calls twice without saying so", .tries,
            wrapper { _, inner, call in
                _ = try? await inner.load(call)
                return try await inner.load(call)
            }
        ),
        (
            "loses the metadata", .passesOn,
            wrapper { _, inner, call in Loaded(Entry(try await inner.load(call).value.payload.bytes)) }
        ),
        (
            "does not pass cancellation on", .cancelsInner,
            wrapper { context, inner, call in
                try await withCheckedThrowingContinuation { waiter in
                    context.world.spawn {
                        do { waiter.resume(returning: try await inner.load(call)) } catch {
                            waiter.resume(throwing: error)
                        }
                    }
                }
            }
        ),
        (
            "leaves a task behind", .endsEverything,
            wrapper { context, inner, call in
                context.world.spawn { try? await context.world.sleep(for: .forever) }
                return try await inner.load(call)
            }
        ),
    ]

    @Test(arguments: strategies) func defectiveStrategyFailsConformance(
        _ what: String, _ promise: Promise, _ plugin: Plugin
    ) {
        let broken = StrategyConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
    }

    @Test(arguments: wrappers) func defectiveWrapperFailsConformance(
        _ what: String, _ promise: Promise, _ plugin: Plugin
    ) {
        let broken = WrapperConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(what): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
    }
}
