import Larder

extension Command.Option {
    static let assume = Command.Option(
        "assume", value: "KIND:NAME",
        help: "Treat this plugin as registered, with any settings, such as origin:prices; repeatable"
    )
}

extension Arguments {
    /// The registry with the plugins that `--assume` names.
    ///
    /// - Throws: ``UsageError`` when one is not written `KIND:NAME`.
    func assuming(_ registry: Registry) throws -> Registry {
        var registry = registry
        for text in values(of: "assume") {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[1].isEmpty, let kind = registry.kind(named: String(parts[0])) else {
                let kinds = registry.kinds.map(\.name).joined(separator: ", ")
                throw UsageError(message: "--assume takes KIND:NAME, such as origin:prices; KIND is one of \(kinds)")
            }
            let name = String(parts[1])
            if registry[kind, name] == nil { try registry.register(.assumed(kind, name)) }
        }
        return registry
    }

    /// The `--assume` options that were given, for a suggested command.
    var assumed: [String] { values(of: "assume").flatMap { ["--assume", $0] } }
}

extension Registry {
    /// The plugins that are only assumed, such as `origin 'prices'`.
    var assumed: [String] {
        kinds.flatMap { self[$0] }.filter(\.isAssumed).map { "\($0.kind) '\($0.name.printable)'" }
    }
}

extension Arguments {
    /// Tells what to do about plugins that policies name and this program does not know. Leaves out names that resemble a
    /// known one: those have a suggestion already.
    func explainUnknown(_ problems: [Problem], _ terminal: Terminal) {
        var unknown: [Problem.UnknownPlugin] = []
        for problem in problems where problem.suggestion == nil && problem.otherFile == nil {
            if let plugin = problem.unknown, !unknown.contains(plugin) { unknown.append(plugin) }
        }
        if unknown.isEmpty { return }
        let names = unknown.map { "\($0.kind) '\($0.name.prefix(64).description.printable)'" }
        let isOne = unknown.count == 1
        terminal.complain(
            "\(names.joined(separator: ", ")) \(isOne ? "is" : "are") not registered in this program. For the plugins of "
                + "your app, build a 'larder' of its own: 'larder plugins --help' shows the program to write")
        if canAssume {
            let options = unknown.flatMap { ["--assume", "\($0.kind):\($0.name)"] }
            terminal.complain("to continue without \(isOne ? "it" : "them"): \(shellCommand(words + options))")
        }
    }
}

extension Problem {
    /// The kind of its file if that is no policy but another file that commands read, with the advice; nil otherwise.
    var otherFile: (kind: String, advice: String, position: SourcePosition, path: String)? {
        guard let source = position?.source, let root = try? JSONParser.parse(source), root["strategy"] == nil
        else { return nil }
        for member in root.members ?? [] {
            if member.name == "format", member.value.string?.hasPrefix("larder-metrics/") == true {
                return ("a metrics dump", "add it up with 'larder report'", member.position, "$.format")
            }
            if ["scenarios", "histories"].contains(member.name), root["format"] == nil {
                return ("a file of scenarios", "run it with 'larder test'", member.position, "$.\(member.name)")
            }
        }
        return nil
    }
}

/// A command of `larder`, as one types it into a shell.
func shellCommand(_ words: [String]) -> String {
    (["larder"] + words).map(\.shellWord).joined(separator: " ")
}

extension String {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=,@%+".utf8)

    /// The word, in quotes where a shell needs them.
    fileprivate var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.plain.contains) { return self }
        let text = unicodeScalars.map { $0.isPrintable ? String($0) : "\u{FFFD}" }.joined()
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
