import LarderFoundation
import Larder
import Testing

@testable import ConformRun

/// Rows over the whole vocabulary of scenarios, in combinations. Each word must have an effect, and each wrong
/// expectation must be noticed.
@Suite struct ConformVocabularyTests {
    private static let fixture = projectFolder.appending(path: "Tests/LarderCommandTests/Fixtures/vocabulary.json").path

    /// The words that rows can use, except those that name what is checked and those without an effect here.
    private static let words = ConformWords.all.flatMap { place, names in names.map { place + "." + $0 } }.filter {
        let withoutEffect = [
            "strategy.local_first", "origin.requires.range", "steps.body",
            "steps.request_headers",
        ]
        let isExpectation = ["origin.requires", "steps.expect", "end."].contains(where: $0.hasPrefix)
        return !isExpectation && !withoutEffect.contains($0)
    }

    @Test func rowsPass() async {
        let output = await Output(.conform, [Self.fixture])
        #expect(output.code == 0 && output.err.isEmpty)
        let others = output.out.split(separator: "\n").filter { !$0.hasSuffix(" pass") }
        #expect(others.count == 1, "\(others.joined(separator: "\n"))")
    }

    /// Without the word, at least one of the rows that contain it does not pass.
    @Test(arguments: words)
    func wordHasEffect(_ word: String) throws {
        let path = word.split(separator: ".").map(String.init)
        let rows = try Self.rows().filter { $0.contains(path[...]) }
        #expect(!rows.isEmpty)
        #expect(try rows.contains { try Self.verdict(of: $0.without(path[...])).verdict != .pass })
    }

    @Test func everyWordIsUsed() throws {
        let rows = try Self.rows()
        for (place, names) in ConformWords.all {
            for name in names {
                let path = (place + "." + name).split(separator: ".").map(String.init)
                #expect(rows.contains { $0.contains(path[...]) }, "\(place).\(name)")
            }
        }
    }

    @Test func wrongExpectationsAreNoticed() throws {
        var missed: [String] = []
        var count = 0
        for row in try Self.rows() {
            for wrong in row.withOneWrongExpectation {
                count += 1
                let line = try Self.verdict(of: wrong.row)
                if line.verdict != .fail { missed.append("\(line.text): \(wrong.path)") }
            }
        }
        #expect(missed == [])
        #expect(count > 800)
    }

    private static func rows() throws -> [JSON] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: fixture)))
        let root = try JSONParser.parse(SourceText(name: fixture, bytes: bytes))
        guard case .list(let rows)? = root["scenarios"]?.content else { return [] }
        return rows.map(JSON.init)
    }

    private static func verdict(of row: JSON) throws -> ConformReport.Line {
        let node = try JSONParser.parse(SourceText(name: "row", bytes: [UInt8](row.text().utf8)))
        let scenario = Result { () throws(Unsupported) in try ConformRow(row: node) }
        return ConformReport.Line(
            ConformFile.Row(id: node["id"]?.string ?? "", level: .must, family: "", scenario: scenario), .standard)
    }
}

extension JSON {
    fileprivate init(_ node: Node) {
        self =
            switch node.content {
            case .null: .null
            case .bool(let value): .bool(value)
            case .number(let value, let text): Int(text).map(JSON.int) ?? .number(value)
            case .string(let text): .string(text)
            case .list(let items): .list(items.map(JSON.init))
            case .object(let members): .object(members.map { JSON.Member($0.name, JSON($0.value)) })
            }
    }

    /// Returns whether there is a value at the path. A path goes through every item of a list.
    fileprivate func contains(_ path: ArraySlice<String>) -> Bool {
        guard let name = path.first else { return true }
        switch self {
        case .list(let items): return items.contains { $0.contains(path) }
        case .object(let members): return members.contains { $0.name == name && $0.value.contains(path.dropFirst()) }
        default: return false
        }
    }

    /// Returns the same value without the members at the path.
    fileprivate func without(_ path: ArraySlice<String>) -> JSON {
        guard let name = path.first else { return self }
        switch self {
        case .list(let items): return .list(items.map { $0.without(path) })
        case .object(let members):
            if path.count == 1 { return .object(members.filter { $0.name != name }) }
            return .object(
                members.map { $0.name == name ? JSON.Member(name, $0.value.without(path.dropFirst())) : $0 })
        default: return self
        }
    }

    /// The rows that differ from this one in one expectation.
    fileprivate var withOneWrongExpectation: [(row: JSON, path: String)] {
        variations { path in
            [".expect.", ".if_none_match", ".if_modified_since"].contains(where: path.contains)
                || path.hasPrefix(".end.") && path != ".end.at_ms"
        }
    }

    private func variations(at path: String = "", _ isExpectation: (String) -> Bool) -> [(row: JSON, path: String)] {
        switch self {
        case .list(let items):
            return items.indices.flatMap { place in
                items[place].variations(at: path + "[\(place)]", isExpectation).map { changed, path in
                    var items = items
                    items[place] = changed
                    return (.list(items), path)
                }
            }
        case .object(let members):
            return members.indices.flatMap { place in
                members[place].value.variations(at: path + "." + members[place].name, isExpectation).map {
                    changed, path in
                    var members = members
                    members[place] = JSON.Member(members[place].name, changed)
                    return (.object(members), path)
                }
            }
        default: return isExpectation(path) ? wrong.map { [($0, path)] } ?? [] : []
        }
    }

    /// Another value that can stand in the same place.
    private var wrong: JSON? {
        let others = [
            "fresh": "stale", "stale": "fresh", "origin": "cache", "cache": "revalidated", "revalidated": "origin",
            "timeout": "no-response", "pending": "sent", "sent": "pending",
        ]
        let errors = ["no-response", "not-stored", "cancelled", "store", "connect", "replay-failed"]
        return switch self {
        case .int(let number): .int(number + 1)
        case .string(let text): .string(others[text] ?? (errors.contains(text) ? "timeout" : text + "!"))
        case .null: .string("timeout")
        default: nil
        }
    }
}
