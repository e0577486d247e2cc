import LarderSystem
import Larder
import LarderCommand
import LarderSimulation

/// The plan of a made-up fleet: its devices, and the events of their lives. It follows from the options alone.
struct FleetPlan: Sendable {
    /// A device with one installation of an app.
    struct Device: Sendable {
        var number: Int
        var seed: UInt64
        /// The wall time of its clock when the fleet starts.
        var start: Timestamp
        /// Whether its clock is right.
        var isClockRight = true
        /// The time after which it loads nothing more.
        var end: Duration
        /// The time at which its app starts anew; nil if it runs to the end.
        var restart: Duration?
        /// The times at which it gets the second revision of the policies, the third, and so on.
        var updates: [Duration] = []
        /// The number of its first dump.
        var firstDump: Int

        var dumps: Int { restart == nil ? 1 : 2 }
    }

    /// Monday, 5 January 2026, 00:00 UTC.
    static let start = Timestamp(seconds: 1_767_571_200)
    /// The time before a restart or the end in which nothing is loaded, so that all calls end.
    static let rest = Duration.seconds(60)

    let devices: [Device]
    let policies: FleetPolicies
    let traffic: Traffic
    let model: OriginModel
    let seed: UInt64

    /// Plans devices that leave a number of dumps. One of ten devices starts its app anew, and leaves two.
    init(dumps: Int, policies: FleetPolicies, traffic: Traffic, model: OriginModel, seed: UInt64) {
        (self.policies, self.traffic, self.model, self.seed) = (policies, traffic, model, seed)
        var dice = SeededGenerator(seed: seed, stream: "fleet")
        var devices: [Device] = []
        var left = dumps
        let length = traffic.length
        func time(from start: Double, to end: Double) -> Duration {
            length.scaled(by: start + (end - start) * dice.chance())
        }
        while left > 0 {
            var device = Device(
                number: devices.count, seed: dice.next(), start: Self.start, end: time(from: 0.85, to: 1),
                firstDump: dumps - left + 1)
            if dice.chance() < 0.1, left > 1 { device.restart = time(from: 0.2, to: 0.7) }
            device.updates = Self.windows(policies.revisions).map { time(from: $0.lowerBound, to: $0.upperBound) }
            // One of twenty devices is never updated.
            if dice.chance() < 0.05 { device.updates = [] }
            left -= device.dumps
            devices.append(device)
        }
        // The clock of one device is ten years ahead, and that of another ten years behind.
        for (place, years) in [(devices.count / 3, 10), (devices.count * 2 / 3, -10)] {
            devices[place].start = Self.start + .seconds(years * 365 * 86_400)
            devices[place].isClockRight = false
        }
        self.devices = devices
    }

    /// The parts of the time in which the devices get each further revision.
    static func windows(_ revisions: Int) -> [Range<Double>] {
        guard revisions > 1 else { return [] }
        let step = 1 / Double(3 * revisions - 1)
        return (0..<(revisions - 1)).map { number in
            let start = Double(3 * number + 1) * step
            return start..<(start + 2 * step)
        }
    }
}
