import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

/// The evening of `larder demo`.
@Suite struct DemoEveningTests {
    private static let evening = [
        EveningTable.Row(
            resource: "collections", made: 8, sent: 4, merged: 1, overtaken: 1, refused: 1, conflicts: 1, waiting: 1),
        EveningTable.Row(resource: "watch-status", made: 11, sent: 10, merged: 1),
    ]

    private static func folder(_ names: [String] = ["collections", "feed", "watch-status"]) throws -> Folder {
        let folder = try Folder()
        for name in names {
            let path = projectFolder.appending(path: "Policies/\(name).json")
            try folder.write(String(contentsOf: path, encoding: .utf8), to: name + ".json")
        }
        return folder
    }

    @Test func everyChangeOfTheEveningIsAccountedFor() throws {
        let folder = try Self.folder()
        let account = try DemoEvening(seed: 1, policies: folder.url, registry: .shipped).live()
        let table = EveningTable(account)
        #expect(table.rows == Self.evening)
        for row in table.rows {
            #expect(row.made == row.sent + row.merged + row.overtaken + row.refused + row.waiting)
        }
        // One was refused, and one was overtaken.
        #expect(account.letters == 2 && account.dumps.count == 2)
        let article = try String(
            contentsOf: projectFolder.appending(path: "Sources/Larder/Larder.docc/GettingStarted.md"), encoding: .utf8)
        #expect(article.contains("\n\n" + table.lines.joined(separator: "\n") + "\n```"))
        #expect(table.lines.allSatisfy { !$0.contains("Ramen") && !$0.contains("video-") })
    }

    @Test func dumpsOfTheDemoTellOfTheEvening() async throws {
        let folder = try Self.folder()
        let out = folder.path + "/out"
        let output = await Output(["demo", folder.path, "--out", out])
        #expect(output.code == 0, "\(output.err)")
        let again = await Output(["demo", folder.path])
        #expect(again.out == output.out)
        let table = try EveningTable(DemoEvening(seed: 1, policies: folder.url, registry: .shipped).live())
        #expect(!table.lines.isEmpty && output.out.hasSuffix(table.lines.joined(separator: "\n") + "\n"))
        let report = await Output(["report", out])
        #expect(report.out.contains("4 of 7 changes reached the service"), "\(report.out)")
        #expect(report.out.contains("10 of 10 changes reached the service"))
        #expect(report.out.contains("nothing unaccounted"))
        let json = try Facts(folder.text(of: "out/demo.json"))
        let row = json["evening"].items.first
        #expect(row?["resource"].string == "collections" && row?["refused"].int == 1 && row?["unaccounted"].int == 0)
    }

    @Test func policiesWithoutRecordsHaveNoEvening() throws {
        let folder = try Self.folder(["feed"])
        let account = try DemoEvening(seed: 1, policies: folder.url, registry: .shipped).live()
        #expect(account.dumps.isEmpty && EveningTable(account).lines.isEmpty)
    }
}
