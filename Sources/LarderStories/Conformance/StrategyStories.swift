import Larder
import LarderSimulation

/// The copy of a story, and the windows of the policy that permit it.
struct StrategyCopy: Sendable {
    var name: String
    /// The age of the copy when the load begins; nil if there is none.
    var age: Duration?
    private var fresh = Duration.seconds(300)
    private var whileRevalidating = Duration.seconds(3_600)
    private var onError = Duration.seconds(604_800)

    static let none = StrategyCopy(name: "no copy")
    static let all: [StrategyCopy] = [
        none,
        StrategyCopy(name: "a fresh copy", age: .seconds(60)),
        StrategyCopy(name: "a stale copy in both windows", age: .seconds(1_800)),
        StrategyCopy(
            name: "a copy permitted while revalidating only", age: .seconds(7_200),
            whileRevalidating: .seconds(604_800), onError: .seconds(3_600)),
        StrategyCopy(name: "a copy permitted on error only", age: .seconds(7_200)),
        StrategyCopy(name: "a copy past every window", age: .seconds(8 * 86_400)),
        StrategyCopy(
            name: "a copy that stops being fresh after 10 ms", age: .milliseconds(299_990),
            whileRevalidating: .zero, onError: .zero),
        StrategyCopy(
            name: "a copy whose windows end after 10 ms", age: .milliseconds(3_899_990), onError: .seconds(3_600)),
        StrategyCopy(name: "a copy from the future", age: .seconds(-3_600)),
    ]

    /// The validator with these windows.
    var windows: JSON {
        [
            "use": "age", "fresh": .string(fresh.spelled), "whileRevalidating": .string(whileRevalidating.spelled),
            "onError": .string(onError.spelled),
        ]
    }

    /// Returns the permitted uses at a time after the load began.
    func uses(after time: Duration) -> Uses {
        guard let age = age.map({ $0 + time }) else { return [] }
        if age >= .zero, age < fresh { return .showing }
        let over = max(age - fresh, .zero)
        let whileRevalidating: Uses = over < whileRevalidating ? .whileRevalidating : []
        return whileRevalidating.union(over < onError ? .onError : [])
    }
}

extension StrategyConformance {
    /// Returns the stories of one load with a copy in a store.
    func stories(with copy: StrategyCopy, in store: Store) -> [Story] {
        let base = Story().with { story in
            story.copy = copy.age.map { Story.Copy(age: $0) }
            story.origin = [.short(.value)]
        }
        var changes: [@Sendable (inout Story) -> Void] = [
            { _ in },
            { $0.origin = [.short(.status(503))] },
            { $0.origin = [.short(.throwsError("outage"))] },
            { $0.origin = [.short(.status(404))] },
            { $0.origin = [.short(.status(403))] },
            {
                $0.origin = [.short(.sends("no object", etag: nil, contentType: "application/json"))]
                $0.load.decodes = true
            },
            { $0.origin = [.slow] },
            { ($0.origin, $0.load.cancelledAfter) = ([.deaf], .seconds(30)) },
            { $0.load.cancelledAfter = .milliseconds(10) },
            { $0.clearings = [.milliseconds(10)] },
            { $0.stores = [.init(.changes, .fails, tier: 1)] },
        ]
        // The origin can answer "unchanged" only if there is a copy that the call can name.
        if copy.age != nil, plugin.needs == [.origin, .store] {
            changes.append { $0.origin = [.short(.unchanged)] }
        }
        if store == .file { changes += changesOfAwaitedLoads }
        return changes.map(base.with)
    }

    private var changesOfAwaitedLoads: [@Sendable (inout Story) -> Void] {
        var changes: [@Sendable (inout Story) -> Void] = [
            { $0.stores = [.unreadable] },
            { ($0.stores, $0.origin) = ([.unreadable], [.short(.status(503))]) },
        ]
        for mode in plugin.needs.contains(.origin) ? [Request.Mode.refresh, .cachedOnly] : [.cachedOnly] {
            changes += [Story.OriginAct.Ending.value, .status(503), .status(404)].map { ending in
                { ($0.origin, $0.load.mode) = ([.short(ending)], mode) }
            }
            changes.append { ($0.stores, $0.load.mode) = ([.unreadable], mode) }
        }
        changes += [.slow, .deaf, .short(.status(503))].map { (act: Story.OriginAct) in
            { ($0.origin, $0.load.deadline) = ([act], .milliseconds(100)) }
        }
        // A slow store is tested only with a deadline.
        changes.append { ($0.stores, $0.load.deadline) = ([.slowToRead], .milliseconds(100)) }
        changes += [.value, .status(503), .status(404)].map { (ending: Story.OriginAct.Ending) in
            { ($0.origin, $0.load.deadline) = ([.short(ending)], .milliseconds(10)) }
        }
        return changes
    }
}

extension Story.OriginAct {
    fileprivate static let slow = Story.OriginAct(.value, after: .seconds(2))

    fileprivate static var deaf: Story.OriginAct {
        var act = Story.OriginAct(.hangs)
        act.ignoresCancellation = true
        return act
    }

    fileprivate static func short(_ ending: Ending) -> Story.OriginAct {
        Story.OriginAct(ending, after: .milliseconds(20))
    }
}

extension Story.StoreFault {
    fileprivate static let unreadable = Story.StoreFault(.reads, .fails)
    fileprivate static let slowToRead = Story.StoreFault(.reads, .takes(.seconds(2)))
}
