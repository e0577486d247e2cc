import LarderFoundation
import LarderSystem
import Larder

extension Command {
    static let new = Command(
        name: "new", summary: "Writes a first policy for a resource.",
        operands: "RESOURCE",
        details: """
            RESOURCE is the name of a resource or the path of its policy file.

            With --records, the policy is about records that users also change offline, such as {"id": …, "version": …,
            "updatedAt": …}. It asks for {"items": […], "next": …, "serverTime": …, "deleted": […]} at the URL. Change the
            places if your service has them elsewhere. 'larder sync probe' tells you.
            """,
        options: [
            .policies, .json,
            Option(
                "strategy", value: "NAME",
                help: "The strategy (default: the one that --assume names, or the first registered)"),
            Option(
                "origin", value: "NAME",
                help:
                    "An origin (default: the one that --assume names; else one that takes a URL, or sample without --url)"
            ),
            Option("url", value: "URL", help: "The URL that the origin asks"),
            Option("records", help: "Write a policy of records that are changed offline, and scenarios for it"),
            Option(
                "ids", value: "client|server", help: "With --records, the one that names new records (default: client)"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            guard arguments.operands.count == 1 else { throw UsageError(message: "new takes one RESOURCE") }
            if arguments.operands[0].contains("://") {
                throw UsageError(message: "a URL is given as --url URL, after the name of the resource")
            }
            let (name, place) = try arguments.resource(arguments.operands[0])
            guard PolicyReader.isName(name) else {
                throw UsageError(
                    message: "a resource's name is a file's name on one line, begins with neither '_' nor '.', and "
                        + "does not end in '.schema'")
            }
            let records = try RecordsStarter(arguments, in: registry)
            let strategy = try chosen(
                .strategy, arguments.value(of: "strategy") ?? assumed(.strategy, in: registry), in: registry)
            let given = arguments.value(of: "url")
            let url = records.flatMap { records in given.map(records.url) } ?? given
            let origin = try origin(for: name, at: url, arguments, in: registry)
            let folder = place.shortPath
            let path = "\(folder)/\(name).json"
            if Disk.item(path) != nil {
                terminal.complain("\(path) already exists")
                return false
            }
            let starter =
                records?.policy(of: name, origin: origin, registry: registry)
                ?? starter(name, strategy: strategy, origin: origin, registry: registry)
            let text = starter.text() + "\n"
            var (parameters, unset) = ([String](), [String]())
            if let url {
                unset = unsetVariables(in: url, arguments.environment)
                // A policy that cannot be read would stop every pantry of the folder.
                let result = try check(
                    text, of: name, in: folder, registry: registry, environment: arguments.environment, unset: unset)
                for problem in result.problems {
                    let place = problem.path == "$.origin.url" ? "--url" : problem.path
                    let expected = problem.expected.map { "; expected \($0)" } ?? ""
                    let effect = result.policy == nil ? "\(path) is not written" : "warning about \(path)"
                    terminal.complain("\(effect): \(place): \(problem.message)\(expected)")
                }
                guard let policy = result.policy else { return false }
                let traits = policy.origin?.originTraits
                parameters = traits?.parameters ?? traits?.requiredParameters ?? []
            }
            try Disk.makeFolder(folder, isPrivate: false)
            let isAsked = records != nil || strategy.needs.contains(.origin)
            let seed = isAsked && names(seed(name), in: origin) ? folder + "/" + seed(name) : nil
            if let seed { try write("{}", to: seed, in: folder + "/Seeds") }
            try write(registry.schema.text(), to: folder + "/policy.schema.json", in: folder)
            try write(text, to: path, in: folder)
            var scenarios: String?
            if let records, Disk.item("\(folder)/Scenarios/\(name).json") == nil {
                let path = "\(folder)/Scenarios/\(name).json"
                try write(records.scenarios(of: name).text(), to: path, in: folder + "/Scenarios")
                scenarios = path
            }
            let steps =
                records?.next(name, path: path)
                ?? next(name, path: path, parameters: parameters, arguments: arguments)
            let next = steps.map(shellCommand)
            if arguments.has("json") {
                let result = JSON.present([
                    "file": .string(path), "seed": seed.map(JSON.string), "scenarios": scenarios.map(JSON.string),
                    "unset": unset.isEmpty ? nil : .list(unset.map(JSON.string)), "next": .list(next.map(JSON.string)),
                ])
                terminal.print(result.text())
            } else {
                let set = unset.isEmpty ? nil : "set \(unset.joined(separator: ", ")) in the environment, then run"
                terminal.print(
                    "wrote \(([path] + [scenarios].compactMap(\.self)).joined(separator: " and ")); \(set ?? "the next commands are")\n  \(next.joined(separator: "\n  "))"
                )
                if let seed { terminal.print("the origin reads \(seed); put its data there") }
            }
            return true
        })

    /// Returns the environment variables that a URL needs and that are not set.
    private static func unsetVariables(in url: String, _ environment: [String: String]) -> [String] {
        var seen: Set<String> = []
        return url.replacing("$${", with: "").matches(of: /\$\{([A-Za-z_]\w*)\}/).map { String($0.1) }.filter {
            environment[$0]?.isEmpty != false && seen.insert($0).inserted
        }
    }

    /// Checks the text of a policy. The first values with which it is sound stand for the variables that are not set.
    private static func check(
        _ text: String, of name: String, in folder: String, registry: Registry, environment: [String: String],
        unset: [String]
    ) throws(PolicyError) -> PolicyReader.CheckResult {
        var result = PolicyReader.CheckResult(problems: [])
        for value in unset.isEmpty ? [""] : ["example", "https://example.com"] where result.policy == nil {
            let environment = environment.merging(unset.map { ($0, value) }) { $1 }
            let reader = try PolicyReader(
                registry: registry, texts: [name: text], files: folder, environment: environment)
            result = reader.check(name + ".json")
        }
        return result
    }

    /// Writes a file, unless it is there.
    private static func write(_ text: String, to path: String, in folder: String) throws {
        if Disk.item(path) != nil { return }
        try Disk.makeFolder(folder, isPrivate: false)
        try Disk.replace(path, with: [Array((text.hasSuffix("\n") ? text : text + "\n").utf8)], isPrivate: false)
    }

    /// The path of the file that the origin of a new policy reads, relative to the policy's folder.
    private static func seed(_ resource: String) -> String { "Seeds/\(resource).json" }

    private static func names(_ path: String, in origin: JSON) -> Bool {
        origin.members?.contains { $0.value == .string(path) } ?? false
    }

    /// The commands that suit a new policy. One with an assumed plugin can be explained, but not loaded.
    private static func next(
        _ name: String, path: String, parameters: [String], arguments: Arguments
    ) -> [[String]] {
        let verb = arguments.assumed.isEmpty ? "load" : "explain"
        let resource = arguments.operands[0] == name ? [name] + folder(arguments) : [path]
        let instance = verb == "load" ? Set(parameters).sorted().map { "\($0)=1" } : []
        return [["check", path] + arguments.assumed, [verb] + resource + instance + arguments.assumed]
    }

    /// The name of the first plugin of a kind that is only assumed.
    private static func assumed(_ kind: PluginKind, in registry: Registry) -> String? {
        registry[kind].first(where: \.isAssumed)?.name
    }

    /// The option that names the folder, if it was given.
    private static func folder(_ arguments: Arguments) -> [String] {
        arguments.value(of: "policies").map { ["--policies", $0] } ?? []
    }

    private static func chosen(_ kind: PluginKind, _ name: String?, in registry: Registry) throws(UsageError) -> Plugin
    {
        let known = registry[kind]
        guard let plugin = name.map({ registry[kind, $0] }) ?? known.first else {
            let names = known.map(\.name).joined(separator: ", ")
            let hint =
                name.flatMap { name in
                    registry.name(meantBy: name, of: kind).map { " (did you mean '\($0)'?)" }
                        ?? Problem.UnknownPlugin(kind, name).map {
                            "; if your app registers it, add --assume \(kind):\($0.name)"
                        }
                } ?? ""
            throw UsageError(
                message: "there is no \(kind) called '\((name ?? "").printable)'; there are: \(names)\(hint)")
        }
        return plugin
    }

    private static func origin(
        for resource: String, at url: String?, _ arguments: Arguments, in registry: Registry
    ) throws(UsageError) -> JSON {
        let name = arguments.value(of: "origin") ?? assumed(.origin, in: registry)
        if let name, name.contains("://") { throw UsageError(message: "a URL is given as --url URL") }
        guard let url else {
            return reference(
                try chosen(.origin, name ?? registry[.origin, "sample"]?.name, in: registry), of: resource,
                in: registry)
        }
        var plugins = registry[.origin]
        if let name { plugins = [try chosen(.origin, name, in: registry)] }
        guard let plugin = plugins.first(where: { $0.settings.contains { $0.name == "url" } }) else {
            let own = shellCommand(
                ["new", resource, "--origin", resource, "--assume", "origin:\(resource)"] + folder(arguments))
            throw UsageError(
                message:
                    "\(name.map { "origin '\($0.printable)' takes no URL" } ?? "no registered origin takes a URL"). To call a "
                    + "service from a closure of your app, register it as .origin(\"\(resource.printable)\") { … } and run: "
                    + own)
        }
        return reference(plugin, ["url": .string(url)], of: resource, in: registry)
    }

    /// A reference to a plugin, with an example value for each required setting that is not given.
    private static func reference(
        _ plugin: Plugin, _ given: [String: JSON] = [:], of resource: String, in registry: Registry
    ) -> JSON {
        .joined(
            ["use": .string(plugin.name)],
            .each(plugin.settings) { setting in
                if let value = given[setting.name] { return (setting.name, value) }
                guard setting.isRequired else { return (setting.name, nil) }
                if setting.type == SettingType<String>.path.name { return (setting.name, .string(seed(resource))) }
                return (setting.name, setting.example ?? part(setting.type, resource: resource, registry: registry))
            })
    }

    /// An example for a setting that takes a plugin or a list of plugins.
    private static func part(_ type: String, resource: String, registry: Registry) -> JSON {
        let words = type.split(separator: " ")
        let plugins = words.last.flatMap { registry.kind(named: String($0)) }.map { registry[$0] } ?? []
        let easy = plugins.last { $0.settings.allSatisfy { !$0.isRequired || $0.example != nil } }
        let reference: JSON = easy.map { Self.reference($0, of: resource, in: registry) } ?? .null
        return words.count > 1 ? .list([reference]) : reference
    }

    private static func starter(
        _ name: String, strategy: Plugin, origin: JSON, registry: Registry
    ) -> JSON {
        func value(_ kind: PluginKind, named plugin: String, _ value: JSON) -> JSON? {
            registry[kind, plugin] == nil ? nil : value
        }
        let (needsOrigin, needsStore) = (strategy.needs.contains(.origin), strategy.needs.contains(.store))
        let patience: [String: JSON] =
            strategy.settings.contains { $0.name == "patience" } && needsStore ? ["patience": "1s"] : [:]
        // A validator that is named like the origin knows what its answers say about their freshness.
        let validator = used(by: origin).flatMap { registry[.validator, $0]?.name } ?? "age"
        let windows: JSON = ["use": .string(validator), "fresh": "5m", "whileRevalidating": "1h", "onError": "1d"]
        let memory: JSON = ["use": "memory", "capacity": "20MB"]
        let disk: JSON = ["use": "sqlite", "capacity": "100MB", "limit": "2s"]
        let hasDisk = registry[.store, "tiered"] != nil && registry[.store, "sqlite"] != nil
        return .present([
            "$schema": "policy.schema.json",
            "resource": .string(name), "about": "What this is, and how old it may be when the network is gone",
            "origin": needsOrigin ? origin : nil,
            "around": needsOrigin ? value(.wrapper, named: "timeout", [["use": "timeout", "after": "8s"]]) : nil,
            "strategy": reference(strategy, patience, of: name, in: registry),
            "validators": needsStore ? value(.validator, named: validator, [windows, "checksum"]) : nil,
            "store": needsStore
                ? value(.store, named: "memory", hasDisk ? ["use": "tiered", "tiers": [memory, disk]] : memory) : nil,
        ])
    }

    /// The name of the plugin to which a reference refers.
    private static func used(by reference: JSON) -> String? {
        if case .string(let name)? = reference.members?.first?.value { name } else { nil }
    }
}
