import LarderSimulation
import Synchronization
import Testing

import Larder
@testable import LarderCore

/// The end of attachments, and clearings that come then.
@Suite struct SectionClosingTests {
    private final class Events: Sendable {
        private let state = Mutex<[String]>([])

        var all: [String] { state.withLock { $0 } }

        func note(_ event: String) { state.withLock { $0.append(event) } }
    }

    private struct Probe: LarderCore.Attachment {
        let name: String
        let events: Events
        let world: any World
        var closing = Duration.zero
        var isAround = false

        func around(_ loader: any Loader) -> any Loader { isAround ? Pass(inner: loader) : loader }

        func cleared(_ selection: Selection, discardingUnsent: Bool) async { events.note("\(name) cleared") }

        func close() async {
            events.note("\(name) closing")
            if closing > .zero { try? await world.sleep(for: closing) }
            events.note("\(name) closed")
        }
    }

    private struct Pass: Loader {
        let inner: any Loader

        func load(_ call: Call) async throws -> Loaded<Entry> { try await inner.load(call) }
    }

    private static let policies = [
        "feed": #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only", "own": {} }"#,
        "_larder": #"{ "shared": {} }"#,
    ]

    private static func plugins(_ events: Events, closing: Duration = .zero, isAround: Bool = false) -> [Plugin] {
        [
            .section("own", "A section.") {
                Probe(name: "own", events: events, world: $0.world, closing: closing, isAround: isAround)
            },
            .pantrySection("shared", "A shared section.") { Probe(name: "shared", events: events, world: $0.world) },
        ]
    }

    @Test func hangingSectionOfResourceDoesNotKeepThatOfPantryOpen() throws {
        let events = Events()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                Self.policies, in: world, plugins: Self.plugins(events, closing: .seconds(600)))
            await simulated.pantry.close(within: .seconds(10))
            #expect(events.all == ["own closing", "shared closing", "shared closed"])
            #expect(world.uptime <= .seconds(10))
            try await world.sleep(for: .seconds(600))
            #expect(events.all.last == "own closed")
        }
    }

    @Test func sectionOfPantryIsClosedAfterThatOfResource() throws {
        let events = Events()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(
                Self.policies, in: world, plugins: Self.plugins(events, closing: .seconds(2)))
            await simulated.pantry.close(within: .seconds(10))
            #expect(events.all == ["own closing", "own closed", "shared closing", "shared closed"])
            #expect(world.uptime == .seconds(2))
        }
    }

    @Test func refusedAttachmentIsClosed() throws {
        let events = Events()
        try SimulatedWorld().run { world in
            await #expect(throws: PolicyError.self) {
                try await SimulatedPantry(Self.policies, in: world, plugins: Self.plugins(events, isAround: true))
            }
            try await world.settle()
        }
        #expect(events.all.filter { $0.hasPrefix("own") } == ["own closing", "own closed"])
    }

    @Test func attachmentIsToldOfClearingsUntilItBeginsToBeClosed() throws {
        let events = Events()
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(Self.policies, in: world, plugins: Self.plugins(events))
            let section = try #require(simulated.pantry.graph(of: "feed")?.attachments.first?.section)
            // No graph refers to this attachment, as at the moment when the last graph is released.
            let attachments = OpenAttachments(in: world)
            let number = attachments.add(
                Probe(name: "last", events: events, world: world), of: section, resource: "feed", places: HeldPlaces())
            func clear() async { _ = await attachments.cleared(Clearing(.all), of: "feed") { _ in } }
            await clear()
            attachments.close(number)
            attachments.close(number)
            await clear()
            try await world.settle()
            #expect(events.all == ["last cleared", "last closing", "last closed"])
        }
    }
}
