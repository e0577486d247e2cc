import Larder
import LarderSystem

/// A file of scenario rows.
struct ConformFile {
    static let format = "strategy-scenarios/1"

    /// A row, and its scenario or the reason why it cannot be played.
    struct Row: Sendable {
        enum Level: String, Sendable, CaseIterable {
            /// Any sound cache should do it.
            case must
            /// The behaviour of one product. Others may differ.
            case choice
        }

        var id: String
        var level: Level
        var family: String
        var scenario: Result<ConformRow, Unsupported>
    }

    private(set) var rows: [Row] = []
    /// The unknown keys beside the rows.
    private(set) var unknown: [String] = []

    /// Reads the file at `path`.
    ///
    /// - Throws: ``PolicyError`` if it is not a file of scenarios, or if two rows have the same name.
    init(path: String) throws(PolicyError) {
        do throws(Problem) {
            try read(Self.tree(path), path)
        } catch {
            throw PolicyError([error])
        }
    }

    private static func tree(_ path: String) throws(Problem) -> Node {
        let bytes: [UInt8]
        do {
            bytes = try Disk.read(path, limit: JSONParser.mostBytes)
        } catch {
            let isTooLarge = error.code == Disk.tooLarge
            throw Problem(
                isTooLarge ? "the file is larger than \(JSONParser.mostBytes / 1_000_000) MB" : error.description,
                file: path)
        }
        do {
            return try JSONParser.parse(SourceText(name: path, bytes: bytes))
        } catch {
            throw Problem(error)
        }
    }

    private mutating func read(_ root: Node, _ path: String) throws(Problem) {
        guard let members = root.members else {
            throw Problem(
                "\(root.inWords) is not allowed here", file: path, at: root.position, expected: "a JSON object")
        }
        guard let format = root["format"], format.string == Self.format else {
            throw Problem(
                "this is no file of scenarios, or of another format", file: path,
                at: (root["format"] ?? root).position, expected: "\"format\": \"\(Self.format)\"")
        }
        guard let node = root["scenarios"], case .list(let rows) = node.content, !rows.isEmpty else {
            throw Problem(
                "there are no scenarios", file: path, at: (root["scenarios"] ?? root).position,
                expected: "\"scenarios\": a list of rows")
        }
        unknown = members.map(\.name).filter { !["format", "about", "reading", "scenarios"].contains($0) }
        var ids: Set<String> = []
        for row in rows {
            let row = try Self.row(row, path)
            guard ids.insert(row.id).inserted else {
                throw Problem("two rows have the id \(row.id.quoted)", file: path, at: node.position)
            }
            self.rows.append(row)
        }
    }

    private static func row(_ node: Node, _ path: String) throws(Problem) -> Row {
        guard node.members != nil else {
            throw Problem(
                "\(node.inWords) is not allowed here", file: path, at: node.position, expected: "a row: an object")
        }
        guard let id = node["id"]?.string, !id.isEmpty, id == id.shown, !id.contains(" ") else {
            throw Problem(
                "this row has no id", file: path, at: (node["id"] ?? node).position,
                expected: "\"id\": at most 64 characters without spaces")
        }
        guard let level = node["level"]?.string.flatMap(Row.Level.init(rawValue:)) else {
            throw Problem(
                "it is not clear what row \(id.quoted) asks for", file: path, at: (node["level"] ?? node).position,
                expected: "\"level\": \"must\" or \"choice\"")
        }
        let scenario = Result { () throws(Unsupported) in try ConformRow(row: node) }
        return Row(id: id, level: level, family: node["family"]?.string ?? "", scenario: scenario)
    }
}
