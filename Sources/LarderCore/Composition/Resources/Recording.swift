import LarderSystem

/// A recording of a pantry's loads. It goes on until it is stopped or released.
public final class Recording: Sendable {
    private let lines: LineFile
    private let listening: Subscription

    init(_ path: String, listeners: Listeners<LoadReport>, in world: any World) throws {
        let lines = LineFile(path, world: world)
        try lines.open()
        let salt = world.token() + world.token()
        self.lines = lines
        listening = listeners.add { lines.append(Self.line($0, salt).text(indented: false)) }
    }

    /// The number of loads that were not recorded, because the disk was too slow or refused them.
    public var lost: Int { lines.lost }

    /// Stops the recording, and waits until all of it is written.
    public func stop() async {
        listening.stop()
        await lines.flush()
    }

    private static func line(_ report: LoadReport, _ salt: String) -> JSON {
        let outcome =
            report.mode == .cachedOnly
            ? "cachedOnly" : report.outcome?.rawValue ?? report.error?.code.rawValue ?? "cancelled"
        let line: JSON = [
            "at": .number(report.began.inSeconds), "resource": .string(report.resource),
            "key": .string(String(SHA256.hex((salt + report.key.text).utf8).prefix(16))), "outcome": .string(outcome),
        ]
        guard report.mode != .normal, case .object(let members) = line else { return line }
        return .object(members + [JSON.Member("mode", .string(report.mode.rawValue))])
    }
}
