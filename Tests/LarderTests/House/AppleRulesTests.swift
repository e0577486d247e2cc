import LarderFoundation
import Testing

/// Rules of Apple's systems that can be read off the sources.
@Suite struct AppleRulesTests {
    private static let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The sources that an app links.
    private static let sources = Result {
        try ["LarderFoundation", "LarderSystem", "LarderCore", "LarderPlugins", "Larder", "LarderEditions"].flatMap {
            try SwiftSource.all(below: root.appending(path: "Sources/" + $0))
        }
    }

    /// Returns the lines that have one of these words.
    private static func uses(of words: Set<String>) throws -> [String] {
        try sources.get().flatMap { file in
            file.words.filter { words.contains($0.word) }.map { "\(file.path):\($0.line) \($0.word)" }
        }
    }

    @Test func oneFunctionWaitsForTheDrive() throws {
        // On Apple's systems fsync alone does not survive a power failure.
        let uses = try Self.uses(of: ["fsync", "F_FULLFSYNC"]).map { $0.replacing(#/:\d+/#, with: "") }
        #expect(uses == ["Disk/DurableFile.swift F_FULLFSYNC", "Disk/DurableFile.swift fsync"])
    }

    /// The code and the tests that the table of differences between the systems names.
    @Test func tableOfDifferencesNamesWhatExists() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Sources/Larder/Larder.docc/HowLarderWorks.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| **") }.map { $0.split(separator: " | ") }
        #expect(rows.count > 15)
        let cells = rows.flatMap { $0.dropFirst().prefix(2) }
        let names = cells.flatMap { $0.matches(of: #/`([^`(]+)[^`]*`/#).map(\.output.1) }
        let code = try ["Sources", "Tests"].flatMap { try SwiftSource.all(below: Self.root.appending(path: $0)) }
        let files = Set(code.map { $0.path.split(separator: "/").last ?? "" })
        let words = Set(code.flatMap { $0.words.map(\.word) })
        for name in names {
            let isFile = FileManager.default.fileExists(atPath: Self.root.path + "/" + name)
            let isWord = name.split(separator: ".").allSatisfy { words.contains(String($0)) }
            #expect(isFile || isWord || files.contains(name + ".swift"), "\(name)")
        }
    }

    /// The calls for which Apple asks for a reason, by the name of their category in a privacy manifest.
    private static let listedCalls: [String: Set<String>] = [
        "FileTimestamp": [
            "creationDate", "modificationDate", "fileModificationDate", "contentModificationDateKey", "creationDateKey",
            "getattrlist", "getattrlistbulk", "fgetattrlist", "stat", "fstat", "fstatat", "lstat", "getattrlistat",
        ],
        "SystemBootTime": ["systemUptime", "mach_absolute_time"],
        "DiskSpace": [
            "volumeAvailableCapacityKey", "volumeAvailableCapacityForImportantUsageKey",
            "volumeAvailableCapacityForOpportunisticUsageKey", "volumeTotalCapacityKey", "systemFreeSize", "systemSize",
            "statfs", "statvfs", "fstatfs", "fstatvfs",
        ],
        "ActiveKeyboards": ["activeInputModes"],
        "UserDefaults": ["UserDefaults"],
    ]

    @Test func privacyManifestOfTheArticleNamesTheCategoriesOfTheSources() throws {
        let used = try Self.listedCalls.filter { try !Self.uses(of: $0.value).isEmpty }.map(\.key)
        let article = try String(
            contentsOf: Self.root.appending(path: "Sources/Larder/Larder.docc/InAnIOSApp.md"), encoding: .utf8)
        let named = article.matches(of: #/<string>NSPrivacyAccessedAPICategory(\w+)<\/string>/#).map {
            String($0.output.1)
        }
        #expect(used.sorted() == named.sorted())
    }
}
