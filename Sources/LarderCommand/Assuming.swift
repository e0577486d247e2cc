import Larder

extension Command.Option {
    static let assume = Command.Option(
        "assume", "KIND:NAME", "Take a plugin for registered, such as origin:prices, with any settings; can be repeated"
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
            guard parts.count == 2, !parts[1].isEmpty, let kind = PluginKind(rawValue: String(parts[0])) else {
                let kinds = PluginKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(message: "--assume takes KIND:NAME, such as origin:prices; KIND is one of \(kinds)")
            }
            let name = String(parts[1])
            if registry[kind, name] == nil { try registry.register(.assumed(kind, name)) }
        }
        return registry
    }

    /// `--assume origin:prices` for each that was given, to be put behind a suggested command.
    var assumed: [String] { values(of: "assume").flatMap { ["--assume", $0] } }
}

extension Registry {
    /// Its plugins that are only assumed: `origin 'prices'`.
    var assumed: [String] {
        PluginKind.allCases.flatMap { self[$0] }.filter(\.isAssumed).map { "\($0.kind) '\($0.name.printable)'" }
    }
}

extension Arguments {
    /// Says what to do about plugins that policies name and nobody registered. A name that is like a known one is
    /// probably a slip, and was told as such.
    func explainUnknown(_ problems: [Problem], _ terminal: Terminal) {
        var unknown: [Problem.UnknownPlugin] = []
        for problem in problems where problem.suggestion == nil {
            if let plugin = problem.unknown, !unknown.contains(plugin) { unknown.append(plugin) }
        }
        if unknown.isEmpty { return }
        let names = unknown.map { "\($0.kind) '\($0.name.prefix(64).description.printable)'" }
        let isOne = unknown.count == 1
        terminal.complain(
            "\(names.joined(separator: ", ")) \(isOne ? "is" : "are") not registered in this program. Plugins of your app "
                + "are known to a 'larder' of its own, which takes five lines: 'larder plugins --help' shows them")
        if canAssume {
            let options = unknown.flatMap { ["--assume", "\($0.kind):\($0.name)"] }
            terminal.complain("to go on without \(isOne ? "it" : "them"): \(shellCommand(words + options))")
        }
    }
}

/// A command of `larder` as it is typed into a shell.
func shellCommand(_ words: [String]) -> String {
    (["larder"] + words).map(\.shellWord).joined(separator: " ")
}

extension String {
    /// The word in quotes, if a shell would read it otherwise.
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=,@%+".utf8)

    fileprivate var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.plain.contains) { return self }
        let text = unicodeScalars.map { $0.isPrintable ? String($0) : "\u{FFFD}" }.joined()
        return "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
