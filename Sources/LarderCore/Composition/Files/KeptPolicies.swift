import LarderSystem

/// The reaction of a starting ``Pantry`` to policies with errors.
public enum UnsoundPoliciesAction: Sendable, Hashable {
    /// The pantry throws all problems.
    case fail
    /// The pantry starts with the last sound set of policies, which is kept in the cache folder from run to run. If
    /// there is none, it throws. The policies of the folder take effect once they are sound and are reloaded or
    /// watched.
    case useLastSound
}

/// The file that keeps the last sound set of policies: the texts of the files of one folder.
///
/// The texts are kept as they were written, so `${NAME}` stays and no value from the environment is in the file.
struct KeptPolicies: Sendable {
    private static let format = "larder-policies/1"
    private static let mostBytes = 64_000_000

    private let folder: String
    private let path: String
    /// The hash of the folder's path. Each folder of policies has its own file.
    private let origin: String

    /// Makes the file for one folder of policies.
    init(of policies: String, in folder: String) {
        let whole = policies.hasPrefix("/") ? policies : (Disk.realPath(".") ?? "") + "/" + policies
        origin = SHA256.hex(whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/").utf8)
        self.folder = folder
        path = folder + "/policies.\(origin.prefix(16)).json"
    }

    /// Writes the texts of the files, by name.
    func write(_ texts: [String: [UInt8]]) throws(Disk.Failure) {
        let files = texts.sorted { $0.key < $1.key }.map { name, bytes in
            JSON.Member(name, .string(String(decoding: bytes, as: UTF8.self)))
        }
        let text: JSON = [
            "format": .string(Self.format), "folder": .string(origin), "digest": .string(Self.digest(of: texts)),
            "files": .object(files),
        ]
        let bytes = Array(text.text(indented: false).utf8)
        guard bytes.count <= Self.mostBytes else { throw Disk.Failure("keep the policies", Disk.tooLarge) }
        try Disk.makeFolder(folder)
        try Disk.replace(path, with: [bytes])
    }

    /// Returns the texts as they were written; nil if there is no file or it was changed.
    func read() -> [String: [UInt8]]? {
        guard let bytes = try? Disk.read(path, limit: Self.mostBytes),
            let root = try? JSONParser.parse(SourceText(name: "", bytes: bytes)),
            root["format"]?.string == Self.format, root["folder"]?.string == origin
        else { return nil }
        var texts: [String: [UInt8]] = [:]
        for member in root["files"]?.members ?? [] {
            guard Self.isName(member.name), let text = member.value.string, text.utf8.count <= JSONParser.mostBytes
            else { return nil }
            texts[member.name] = Array(text.utf8)
        }
        return root["digest"]?.string == Self.digest(of: texts) ? texts : nil
    }

    private static func isName(_ name: String) -> Bool {
        PolicyFiles.isBase(name) || PolicyFiles.isPolicy(name) && !name.contains("/")
    }

    static func digest(of texts: [String: [UInt8]]) -> String {
        var bytes: [UInt8] = []
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            bytes += Array("\(name)/\(text.count)/".utf8) + text
        }
        return SHA256.hex(bytes)
    }
}
