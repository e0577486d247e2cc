import Foundation
import Testing

/// The tests that the article "Compared with others" names.
@Suite struct ComparisonArticleTests {
    @Test func testsOfThePageExist() throws {
        let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(
            contentsOf: root.appending(path: "Sources/LarderSync/LarderSync.docc/ComparedWithOthers.md"),
            encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
        #expect(rows.count >= 25)
        let tests = root.appending(path: "Tests/LarderSyncTests").resolvingSymlinksInPath().path
        let files = FileManager.default.enumerator(atPath: tests)
        let sources = try (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix("Tests.swift") }.map {
            try String(contentsOfFile: tests + "/" + $0, encoding: .utf8)
        }
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 3 && cells.allSatisfy { !$0.isEmpty }, "\(row)")
            let name = cells.last?.trimmingCharacters(in: ["`"]) ?? ""
            #expect(sources.contains { $0.contains("func \(name)(") }, "\(name)")
        }
    }
}
