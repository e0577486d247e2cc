import LarderFoundation
import Larder
import LarderSystem

// Options that several commands take. Each is declared once, here.

extension Command.Option {
    static let policies = Command.Option("policies", value: "DIR", help: "The folder of policies (default: Policies)")
    static let cache = Command.Option(
        "cache", value: "DIR",
        help: "The folder where stores keep files (default: the project's own, below the user's caches)"
    )
    static let data = Command.Option(
        "data", value: "DIR",
        help:
            "The app's folder for what users made, which is no cache (default: a folder of this project, below the user's "
            + "application data)"
    )
    package static let json = Command.Option("json", help: "Write the result as JSON")

    package static func format(_ names: [String]) -> Command.Option {
        Command.Option(
            "format", value: names.joined(separator: "|"), help: "The format of the result (default: \(names[0]))")
    }
}

extension Arguments {
    /// The format of the result: the first of `names` by default, and `json` with `--json`.
    package func format(_ names: [String]) throws(UsageError) -> String {
        let format = value(of: "format")
        if let format, !names.contains(format) {
            throw UsageError(message: "--format takes one of \(names.joined(separator: ", "))")
        }
        guard has("json") else { return format ?? names[0] }
        if let format, format != "json" {
            throw UsageError(message: "--json and --format \(format) exclude each other")
        }
        return "json"
    }

    /// The folder of policies, as it was given.
    var folder: String { value(of: "policies") ?? "Policies" }

    var policies: URL { URL(filePath: folder, directoryHint: .isDirectory) }
    var cache: URL? { value(of: "cache").map { URL(filePath: $0, directoryHint: .isDirectory) } }

    /// The cache folder for a folder of policies. By default, each folder of policies has its own, because two projects may
    /// have a resource of the same name.
    func cache(for policies: URL) -> URL? { cache ?? Self.ownFolder(.cachesDirectory, of: policies) }

    /// The data folder for a folder of policies. By default, each folder of policies has its own.
    func data(for policies: URL) -> URL? {
        value(of: "data").map { URL(filePath: $0, directoryHint: .isDirectory) }
            ?? Self.ownFolder(.applicationSupportDirectory, of: policies)
    }

    private static func ownFolder(_ kind: FileManager.SearchPathDirectory, of policies: URL) -> URL? {
        let folder = policies.resolvingSymlinksInPath().absoluteURL
        let path = folder.path
        let name = folder.deletingLastPathComponent().lastPathComponent.filter {
            $0.isLetter || $0.isNumber
        }
        return FileManager.default.urls(for: kind, in: .userDomainMask).first?
            .appending(path: "larder/projects/\(name)-\(SHA256.hex(path.utf8).prefix(12))")
    }

    /// The account that the option `scope` names; nil without it.
    ///
    /// - Throws: ``UsageError`` if the name is empty.
    func scope() throws(UsageError) -> String? {
        let scope = value(of: "scope")
        if scope?.isEmpty == true { throw UsageError(message: "--scope needs the name of an account; it is empty") }
        return scope
    }

    /// Returns a reader of the policies in a folder.
    func reader(_ registry: Registry, _ folder: String) -> PolicyReader {
        PolicyReader(registry: registry, folder: folder, environment: environment)
    }

    /// The folder of policies: the only operand of a command, or that of `--policies`.
    func policies(orOperandOf command: String) throws(UsageError) -> URL {
        guard operands.count <= 1 else { throw UsageError(message: "\(command) takes one PATH") }
        guard let path = operands.first else { return policies }
        if value(of: "policies") != nil { throw UsageError(message: "PATH and --policies exclude each other") }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// The resource that an operand names, and the folder of its policy.
    ///
    /// The operand is the resource's name, or the path of its policy file, such as `Policies/feed.json`.
    ///
    /// - Throws: ``UsageError`` if the operand is a path and `--policies` is given too.
    func resource(_ operand: String) throws(UsageError) -> (name: String, folder: URL) {
        let isPath = operand.contains("/") || FileManager.default.fileExists(atPath: operand)
        guard isPath, operand.hasSuffix(".json") else { return (operand, policies) }
        if value(of: "policies") != nil {
            throw UsageError(message: "the path of a policy and --policies exclude each other")
        }
        let file = URL(filePath: operand)
        return (file.deletingPathExtension().lastPathComponent, file.deletingLastPathComponent())
    }

    /// The file that the option `output` names, to which a result is written. A former result there is replaced.
    ///
    /// - Parameters:
    ///   - inputs: the files and folders that the command reads.
    ///   - policies: the folder of policies, if it is not that of the option `policies`.
    /// - Throws: ``UsageError`` if it is one of them, or a policy.
    func output(besides inputs: [String], policies: URL? = nil) throws(UsageError) -> String? {
        guard let path = value(of: "output") else { return nil }
        // A file that is not there yet cannot be overwritten.
        guard let target = Disk.realPath(path) else { return path }
        let isPolicy =
            target.hasSuffix(".json")
            && Disk.split(target).folder == Disk.realPath((policies ?? self.policies).shortPath)
        if isPolicy || inputs.compactMap(Disk.realPath).contains(where: { target == $0 || target.hasPrefix($0 + "/") })
        {
            throw UsageError(message: "--output would overwrite \(path.printable), which is no result but an input")
        }
        return path
    }
}

extension Double {
    /// Reads a share such as `5%` or `0.05`. Returns nil if it is none, or not from 0 to 1.
    init?(share text: String) {
        let number = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
        guard let number, (0...1).contains(number) else { return nil }
        self = number
    }
}
