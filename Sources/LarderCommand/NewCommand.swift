#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder

extension Command {
    static let new = Command(
        name: "new", summary: "Writes a policy to start from.",
        operands: "RESOURCE",
        options: [
            .policies,
            Option("strategy", "NAME", "In which order things are tried (default: the first there is)"),
            Option(
                "origin", "NAME|URL",
                "Where the data comes from: an origin, or a URL for one that takes URLs (default: sample, a stand-in)"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            guard arguments.operands.count == 1 else { throw UsageError(message: "one RESOURCE, please") }
            let name = arguments.operands[0]
            guard PolicyReader.isName(name) else {
                throw UsageError(
                    message: "a resource's name is a file's name on one line, begins with neither '_' nor '.', and "
                        + "does not end in '.schema'")
            }
            let strategy = try chosen(.strategy, arguments.value(of: "strategy"), in: registry)
            let origin = try origin(for: name, arguments, in: registry)
            let folder = arguments.policies.shortPath
            let path = "\(folder)/\(name).json"
            if Disk.item(path) != nil {
                terminal.complain("\(path) is there already")
                return false
            }
            let text = starter(name, strategy, origin, in: folder, registry).text() + "\n"
            try Disk.makeFolder(folder)
            try Disk.replace(path, with: [Array(text.utf8)], isPrivate: false)
            let next = next(name, path, arguments).map(shellCommand).joined(separator: "\n  ")
            terminal.print("\(path) is there; go on from it with\n  \(next)")
            return true
        })

    /// The commands that go on from a new policy. What is only assumed can be looked at and not be loaded.
    private static func next(_ name: String, _ path: String, _ arguments: Arguments) -> [[String]] {
        let isAssumed = !arguments.assumed.isEmpty
        return [
            ["check", path] + arguments.assumed,
            [isAssumed ? "explain" : "load", name] + folder(arguments) + arguments.assumed,
        ]
    }

    /// The option that names the folder, where it was given.
    private static func folder(_ arguments: Arguments) -> [String] {
        arguments.value(of: "policies").map { ["--policies", $0] } ?? []
    }

    private static func chosen(_ kind: PluginKind, _ name: String?, in registry: Registry) throws(UsageError) -> Plugin
    {
        let known = registry[kind]
        guard let plugin = name.map({ registry[kind, $0] }) ?? known.first else {
            let names = known.map(\.name).joined(separator: ", ")
            let own = name.map { "; if it is your app's own, add --assume \(kind):\($0.printable)" } ?? ""
            throw UsageError(message: "there is no \(kind) called '\(name ?? "")'; there are: \(names)\(own)")
        }
        return plugin
    }

    private static func origin(
        for resource: String, _ arguments: Arguments, in registry: Registry
    ) throws(UsageError) -> JSON {
        let value = arguments.value(of: "origin")
        guard let value, value.contains("://") else {
            return reference(
                try chosen(.origin, value ?? registry[.origin, "sample"]?.name, in: registry), in: registry)
        }
        guard let plugin = registry[.origin].first(where: { $0.settings.contains { $0.name == "url" } }) else {
            let names = registry[.origin].map(\.name).joined(separator: ", ")
            let own = shellCommand(
                ["new", resource, "--origin", resource, "--assume", "origin:\(resource)"] + folder(arguments))
            throw UsageError(
                message:
                    "no registered origin takes a URL; there are: \(names). To call your service from a closure of "
                    + "your app, register it as .origin(\"\(resource.printable)\") { … } and begin with: \(own)")
        }
        return reference(plugin, ["url": .string(value)], in: registry)
    }

    /// A plugin with what must be set set to something that may stand there.
    private static func reference(
        _ plugin: Plugin, _ given: [String: JSON] = [:], in registry: Registry
    ) -> JSON {
        var members = [JSON.Member("use", .string(plugin.name))]
        for setting in plugin.settings {
            if let value = given[setting.name] {
                members.append(JSON.Member(setting.name, value))
            } else if setting.isRequired {
                members.append(JSON.Member(setting.name, setting.example ?? part(setting.type, registry)))
            }
        }
        return .object(members)
    }

    /// Something that may stand where a plugin or a list of plugins is wanted: one that is easily set.
    private static func part(_ type: String, _ registry: Registry) -> JSON {
        let words = type.split(separator: " ")
        let plugins = words.last.flatMap { PluginKind(rawValue: String($0)) }.map { registry[$0] } ?? []
        let easy = plugins.last { $0.settings.allSatisfy { !$0.isRequired || $0.example != nil } }
        let reference: JSON = easy.map { Self.reference($0, in: registry) } ?? .null
        return words.count > 1 ? .list([reference]) : reference
    }

    private static func starter(
        _ name: String, _ strategy: Plugin, _ origin: JSON, in folder: String, _ registry: Registry
    ) -> JSON {
        var members: [JSON.Member] = []
        if Disk.item(folder + "/policy.schema.json") != nil {
            members.append(JSON.Member("$schema", "policy.schema.json"))
        }
        members.append(JSON.Member("resource", .string(name)))
        members.append(JSON.Member("about", "What this is, and how old it may be when the network is gone"))
        func add(_ key: String, _ kind: PluginKind, _ plugin: String, _ value: JSON) {
            if registry[kind, plugin] != nil { members.append(JSON.Member(key, value)) }
        }
        if strategy.needs.contains(.origin) {
            members.append(JSON.Member("origin", origin))
            add("around", .wrapper, "timeout", [["use": "timeout", "after": "8s"]])
        }
        members.append(JSON.Member("strategy", reference(strategy, in: registry)))
        if strategy.needs.contains(.store) {
            add(
                "validators", .validator, "age",
                [["use": "age", "fresh": "5m", "whileRevalidating": "1h", "onError": "1d"], "checksum"])
            add("store", .store, "memory", ["use": "memory", "capacity": "20MB"])
        }
        return .object(members)
    }
}
