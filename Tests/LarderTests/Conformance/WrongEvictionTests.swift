import Larder
import LarderSystem
import LarderSimulation
import Testing

/// Evictions with deliberate defects. The conformance suite finds each one, with the promise that it breaks.
@Suite struct WrongEvictionTests {
    /// A first-in, first-out eviction with one defect.
    private struct Queue: Eviction {
        enum Fault: Sendable {
            case namesTwice, namesAnyNumber, namesNothing, namesAfterTheLast, ignoresRemovals, namesUsedPlaces
            case ignoresUsesTogether, dropsAtChance, sharesItsState
        }

        let fault: Fault?
        let shared: Locked<[Int]>
        private var places: [Int] = []
        private var last = 0

        init(_ fault: Fault?, shared: Locked<[Int]> = Locked([])) {
            self.fault = fault
            self.shared = shared
        }

        mutating func inserted(_ place: Int, hash: Int, weight: Int) {
            if fault == .sharesItsState { shared.withLock { $0.append(hash) } }
            places.append(place)
        }

        mutating func used(_ place: Int) {
            let isKnown = places.contains(place)
            guard isKnown || fault == .namesUsedPlaces else { return }
            places.removeAll { $0 == place }
            places.append(place)
        }

        mutating func used(_ used: UnsafeBufferPointer<Int32>) {
            if fault == .ignoresUsesTogether { return }
            for place in used { self.used(Int(place)) }
        }

        mutating func removed(_ place: Int) {
            if fault != .ignoresRemovals { places.removeAll { $0 == place } }
        }

        mutating func evict() -> Int? {
            guard !places.isEmpty else { return fault == .namesAfterTheLast ? last : nil }
            switch fault {
            case .namesTwice: return places.first
            case .namesAnyNumber: return places.removeFirst() + 1_000
            case .namesNothing where places.count > 5: return nil
            case .dropsAtChance:
                last = places.remove(at: Int.random(in: 0..<places.count))
            case .sharesItsState:
                let number = shared.withLock { $0.reduce(0, &+) }
                last = places.remove(at: Int(UInt(bitPattern: number) % UInt(places.count)))
            default: last = places.removeFirst()
            }
            return last
        }
    }

    private static func plugin(_ fault: Queue.Fault?) -> Plugin {
        // All evictions share one list, like a global variable.
        let shared = Locked<[Int]>([])
        return .eviction("wrong", "Wrong.") { Queue(fault, shared: shared) }
    }

    private static let evictions: [(String, Promise, Plugin)] = [
        ("names a place again", .namesFilled, plugin(.namesTwice)),
        ("names places that there are not", .namesFilled, plugin(.namesAnyNumber)),
        ("names none while many are filled", .namesWhileFilled, plugin(.namesNothing)),
        ("names one when none is filled", .namesWhileFilled, plugin(.namesAfterTheLast)),
        ("names what was removed", .namesNoneRemoved, plugin(.ignoresRemovals)),
        ("takes a use for a filling", .unknownPlaces, plugin(.namesUsedPlaces)),
        ("does not hear of many uses", .usesTogether, plugin(.ignoresUsesTogether)),
        ("chooses by chance", .sameChoices, plugin(.dropsAtChance)),
        ("shares its state with others", .sameChoices, plugin(.sharesItsState)),
        (
            "can be composed only with a setting", .composes,
            .eviction("wrong", "Wrong.", Setting("of", .flag, help: "?")) { _ in Queue(nil) }
        ),
    ]

    @Test(arguments: evictions) func defectiveEvictionFailsConformance(
        _ fault: String, _ promise: Promise, _ plugin: Plugin
    ) {
        let broken = EvictionConformance(plugin).brokenPromises()
        #expect(broken.contains { $0.promise == promise }, "\(fault): \(broken)")
        #expect(broken.allSatisfy { $0.description.hasPrefix($0.promise.rawValue + " (") })
    }

    @Test func correctEvictionPassesConformance() {
        #expect(EvictionConformance(Self.plugin(nil)).brokenPromises() == [])
    }

    @Test func evictionWithSharedStateFailsConformance() {
        // A single eviction behaves the same every time.
        struct Neighbour: Eviction {
            final class Crowd: Sendable {
                let count = Locked(0)
                let lastToldOf = Locked(0)
            }

            let crowd: Crowd
            private let number: Int
            private var places: [Int] = []

            init(_ crowd: Crowd) {
                self.crowd = crowd
                number = crowd.count.withLock {
                    $0 += 1
                    return $0
                }
            }

            mutating func inserted(_ place: Int, hash: Int, weight: Int) {
                crowd.lastToldOf.withLock { $0 = number }
                places.append(place)
            }
            mutating func used(_ place: Int) {}
            mutating func removed(_ place: Int) { places.removeAll { $0 == place } }
            mutating func evict() -> Int? {
                if places.isEmpty { return nil }
                return crowd.lastToldOf.withLock { $0 } == number ? places.removeFirst() : places.removeLast()
            }
        }
        let crowd = Neighbour.Crowd()
        let broken = EvictionConformance(.eviction("wrong", "Wrong.") { Neighbour(crowd) }).brokenPromises()
        #expect(broken.contains { $0.promise == .ownState }, "\(broken)")
    }
}
