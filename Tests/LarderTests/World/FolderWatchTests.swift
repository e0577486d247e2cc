import LarderFoundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A watch over a real folder, as the system tells changes. A watch that is deaf would hang here until the test's time
/// limit.
@Suite(.timeLimit(.minutes(20))) struct FolderWatchTests {
    private let files = FileManager.default

    /// A folder, the watched name below it, and the changes that the watch reports.
    private final class Watched {
        let base: Folder
        let name: String
        var path: String { base.path + "/" + name }
        private var changes: AsyncStream<FolderChange>.AsyncIterator

        init(_ name: String, in base: Folder) {
            self.base = base
            self.name = name
            changes = SystemWorld().changes(in: base.path + "/" + name).makeAsyncIterator()
        }

        /// Returns when a change was reported after which `isSo` is true.
        func wait(_ isSo: () -> Bool) async {
            while let _ = await changes.next() { if isSo() { return } }
        }

        /// Writes files until one is reported by its name.
        func hearFiles() async throws {
            var number = 0
            try base.write("{}", to: name + "/0.json")
            while let change = await changes.next() {
                if case .files(let names) = change, names.contains("\(number).json") { return }
                // This change may include the file, too.
                guard change == .anything else { continue }
                number += 1
                try base.write("{}", to: name + "/\(number).json")
            }
        }
    }

    private func make(_ path: String) throws {
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    @Test func folderDeletedAndMadeAgainIsWatched() async throws {
        let base = try Folder()
        try make(base.path + "/policies")
        let watched = Watched("policies", in: base)
        for _ in 0..<3 {
            try files.removeItem(atPath: watched.path)
            await watched.wait { !files.fileExists(atPath: watched.path) }
            try make(watched.path)
            await watched.wait { files.fileExists(atPath: watched.path) }
            try await watched.hearFiles()
        }
    }

    @Test func missingFolderIsWatchedOnceMade() async throws {
        let base = try Folder()
        let watched = Watched("deep/policies", in: base)
        try make(watched.path)
        await watched.wait { files.fileExists(atPath: watched.path) }
        try await watched.hearFiles()
    }

    @Test(arguments: ["policies", "releases/policies"]) func replacedLinkIsFollowed(_ name: String) async throws {
        let base = try Folder()
        for release in ["1", "2", "3"] { try make(base.path + "/r\(release)/policies") }
        let link = base.path + "/" + (name == "policies" ? "policies" : "releases")
        func swap(_ release: String) throws {
            // As `ln -sfn` does, the link is made beside the old one and then renamed.
            let target = name == "policies" ? "r\(release)/policies" : "r\(release)"
            try files.createSymbolicLink(atPath: link + ".new", withDestinationPath: target)
            #expect(rename(link + ".new", link) == 0)
        }
        try swap("1")
        let watched = Watched(name, in: base)
        for release in ["2", "3"] {
            try swap(release)
            await watched.wait { Disk.realPath(watched.path)?.hasSuffix("/r\(release)/policies") == true }
            try await watched.hearFiles()
        }
    }

    @Test func replacedParentIsFollowed() async throws {
        let base = try Folder()
        try make(base.path + "/app/policies")
        try make(base.path + "/next/policies")
        let watched = Watched("app/policies", in: base)
        #expect(rename(base.path + "/app", base.path + "/old") == 0)
        await watched.wait { !files.fileExists(atPath: watched.path) }
        #expect(rename(base.path + "/next", base.path + "/app") == 0)
        await watched.wait { files.fileExists(atPath: watched.path) }
        try await watched.hearFiles()
    }

    @Test(.enabled(if: Disk.item("/proc/self/fd") != nil, "this system does not tell which descriptors are open"))
    func endedWatchLeavesNoDescriptors() async throws {
        let base = try Folder()
        try make(base.path + "/policies")
        /// Returns the number of this process's inotify descriptors.
        func watches() throws -> Int {
            try Disk.list("/proc/self/fd").count { item in
                (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + item.name))?.contains("inotify")
                    == true
            }
        }
        var count = 0
        do {
            let watched = Watched("policies", in: base)
            for _ in 0..<20 {
                try files.removeItem(atPath: watched.path)
                await watched.wait { !files.fileExists(atPath: watched.path) }
                try make(watched.path)
                await watched.wait { files.fileExists(atPath: watched.path) }
            }
            count = try watches()
        }
        // Other tests watch at the same time, but none of them twenty times.
        #expect(count < 20)
    }

    @Test func folderTrailFollowsLinks() throws {
        let base = try Folder()
        let real = Disk.realPath(base.path) ?? ""
        try make(base.path + "/a/b")
        try files.createSymbolicLink(atPath: base.path + "/a/up", withDestinationPath: "../a/./b")
        try files.createSymbolicLink(atPath: base.path + "/whole", withDestinationPath: base.path + "/a/up")
        let trail = FolderTrail(to: base.path + "/whole")
        #expect(trail.end == real + "/a/b")
        let depth = FolderTrail(to: base.path).steps.count
        #expect(
            trail.steps.dropFirst(depth).map(\.name).filter { ["whole", "a", "up", "b"].contains($0) }
                == ["whole", "a", "up", "a", "b"])
        let missing = FolderTrail(to: base.path + "/a/c/d")
        #expect(missing.end == nil && missing.steps.last == .init(folder: real + "/a", name: "c"))
        try files.createSymbolicLink(atPath: base.path + "/round", withDestinationPath: "round")
        #expect(FolderTrail(to: base.path + "/round").end == nil)
        #expect(FolderTrail(to: ".").end == Disk.realPath("."))
        #expect(FolderTrail(to: "/").end == "/")
    }
}
