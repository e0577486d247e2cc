import LarderFoundation
import Larder
import LarderSimulation

/// A generator of random valid policies from the plugins of a registry and their declared settings.
struct RandomPolicy {
    private let registry: Registry
    private var dice: SeededGenerator

    /// The largest depth of nested plugins.
    private static let deepest = 2
    private static let mostTries = 1_000

    private init(_ registry: Registry, seed: UInt64) {
        self.registry = registry
        dice = SeededGenerator(seed: seed ^ 0x9A9A)
    }

    /// Writes a valid policy for `feed` into a folder, around which `recorder` always stands, and returns it.
    ///
    /// - Parameter files: the folder of the files that it may read.
    /// - Throws: the problems of the last of many tries, if none was valid.
    static func make(
        from registry: Registry, files: String, recorder: String, origin: String, seed: UInt64
    ) throws -> (policy: Policy, text: String) {
        var maker = RandomPolicy(registry, seed: seed)
        var problems: [Problem] = []
        for _ in 0..<mostTries {
            let text = maker.policy(recorder, origin).text()
            let reader = try PolicyReader(registry: registry, texts: ["feed": text], files: files, environment: [:])
            let verdict = reader.check("feed.json")
            if let policy = verdict.policy { return (policy, text) }
            problems = verdict.problems
        }
        throw PolicyError(problems)
    }

    private mutating func policy(_ recorder: String, _ origin: String) -> JSON {
        var members = [JSON.Member("resource", "feed")]
        // Mostly the origin that fails and hangs: others behave too well to find defects.
        let own: JSON = dice.roll(4) > 0 ? .string(origin) : part(.origin, 0)
        members.append(JSON.Member("origin", own))
        members.append(JSON.Member("around", .list([.string(recorder)] + parts(.wrapper, upTo: 3, except: recorder))))
        members.append(JSON.Member("strategy", part(.strategy, 0)))
        members.append(JSON.Member("validators", .list(validators())))
        if dice.roll(10) > 0 { members.append(JSON.Member("store", part(.store, 0))) }
        if dice.roll(3) == 0 { members.append(JSON.Member("fallbacks", .list(parts(.origin, upTo: 2)))) }
        return .object(members)
    }

    /// Makes random validators, mostly with one that limits the age.
    private mutating func validators() -> [JSON] {
        let age: [JSON] = registry[.validator, "age"].map { dice.roll(4) > 0 ? [plugin($0, 0)] : [] } ?? []
        return age + parts(.validator, upTo: 2)
    }

    private mutating func parts(_ kind: PluginKind, upTo most: Int, except name: String = "") -> [JSON] {
        (0..<dice.roll(most + 1)).map { _ in part(kind, 0, except: name) }
    }

    private mutating func part(_ kind: PluginKind, _ depth: Int, except name: String = "") -> JSON {
        let plugins = registry[kind].filter { plugin in
            // An HTTP server is outside simulated time.
            plugin.name != name && !(plugin.kind == .origin && plugin.name == "http")
                && (depth < Self.deepest
                    || !plugin.settings.contains { $0.kind != nil && $0.type.hasPrefix("list of ") })
        }
        return plugin(plugins[dice.roll(plugins.count)], depth)
    }

    /// Makes a plugin reference with all required settings and some optional ones.
    private mutating func plugin(_ plugin: Plugin, _ depth: Int) -> JSON {
        var members = [JSON.Member("use", .string(plugin.name))]
        for setting in plugin.settings where setting.isRequired || dice.roll(2) == 0 {
            let value = value(setting.type, setting.schema, setting.example, plugin.kind, depth)
            members.append(JSON.Member(setting.name, value))
        }
        return members.count == 1 && dice.roll(2) == 0 ? .string(plugin.name) : .object(members)
    }

    private mutating func value(
        _ type: String, _ schema: JSON, _ example: JSON?, _ kind: PluginKind, _ depth: Int
    ) -> JSON {
        if let nested = registry.kind(named: type) { return part(nested, depth + 1) }
        if type.hasPrefix("list of ") {
            let count = (schema["minItems"]?.int ?? 0) + dice.roll(3)
            let element = String(type.dropFirst("list of ".count))
            return .list((0..<count).map { _ in value(element, schema["items"] ?? true, nil, kind, depth) })
        }
        switch type {
        // Without `forever`: a load through such a wrapper or origin would never end, as asked for.
        case "duration" where kind == .wrapper || kind == .origin:
            return pick(["1ms", "20ms", "60ms", "200ms", "1s", "30s"])
        case "duration": return pick(["0s", "1ms", "30ms", "80ms", "200ms", "1s", "20s", "10m", "1h", "7d", "forever"])
        case "size": return pick(["200B", "400B", "700B", "1KB", "3KB", "1MB"])
        case "share": return pick([0, "10%", .number(0.5), 1])
        case "window": return pick(["0s-50ms", "1s-20s", "5m-1h"])
        case "flag": return .bool(dice.roll(2) == 0)
        case "choice": return pick(schema["enum"]?.items ?? ["unknown"])
        case "whole number": return .int((schema["minimum"]?.int ?? 0) + dice.roll(4))
        case "number": return .int((schema["minimum"]?.int ?? 0) + dice.roll(3))
        case "text": return pick(["application/json", "image/*", "application/*", "text/plain"])
        case "name": return pick(["entries", "others"])
        case "path": return "Seeds/data.json"
        default: return example ?? ["any": 1]
        }
    }

    private mutating func pick(_ values: [JSON]) -> JSON { values[dice.roll(values.count)] }
}

extension JSON {
    fileprivate subscript(name: String) -> JSON? {
        if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
    }

    fileprivate var items: [JSON]? { if case .list(let items) = self { items } else { nil } }

    fileprivate var int: Int? {
        switch self {
        case .int(let value): value
        case .number(let value): Int(value)
        default: nil
        }
    }
}
