/// How ``Pantry`` starts while its policies are not sound.
public enum UnsoundPoliciesAction: Sendable, Hashable {
    /// Throws everything that is wrong with them.
    case fail
    /// Begins with the last set of policies that was sound, which is kept in the cache folder from run to run. If there is
    /// none, it throws. The policies of the folder take over as soon as they are sound and reloaded or watched.
    case useLastSound
}

/// The file that holds the last sound set of policies: what the files of one folder said, as it was written there.
///
/// Values from the environment are not in it: `${NAME}` is kept as it stands.
struct KeptPolicies: Sendable {
    private static let format = "larder-policies/1"
    private static let mostBytes = 64_000_000

    private let folder: String
    private let path: String
    /// The path that a folder's name leads to, so that each folder has a set of its own.
    private let origin: String

    /// The file for one folder of policies.
    init(of policies: String, in folder: String) {
        let whole = policies.hasPrefix("/") ? policies : (Disk.realPath(".") ?? "") + "/" + policies
        origin = SHA256.hex(whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/").utf8)
        self.folder = folder
        path = folder + "/policies.\(origin.prefix(16)).json"
    }

    /// Keeps what the files say, by name.
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

    /// The files' text as it was kept; nil if nothing is kept, or not as it was written.
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

    private static func digest(of texts: [String: [UInt8]]) -> String {
        var bytes: [UInt8] = []
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            bytes += Array("\(name)/\(text.count)/".utf8) + text
        }
        return SHA256.hex(bytes)
    }
}
