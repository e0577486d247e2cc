import Foundation
import Testing

/// The table of rules on the page "HTTP Rules".
@Suite struct HTTPRulesPageTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    private static let page = root.appending(path: "Sources/Larder/Larder.docc/HTTPRules.md")

    /// The rows of the table of rules, each with its cells.
    private static func rows() throws -> [[String]] {
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "## The rules, one by one").last)
        return table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { row in
            row.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func everyRuleHasABehaviourAndTestsThatExist() throws {
        var sources = ""
        let tests = Self.root.appending(path: "Tests")
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            sources += try String(contentsOf: file, encoding: .utf8)
        }
        let rows = try Self.rows()
        #expect(rows.count > 50)
        for row in rows {
            #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            let names = row.last?.components(separatedBy: ", ").map { $0.trimmingCharacters(in: ["`"]) } ?? []
            for name in names { #expect(sources.contains("func \(name)("), "\(name)") }
        }
    }
}
