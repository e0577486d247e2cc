import Foundation
import Larder
import Testing

@testable import LarderCore

/// Policies that extend a file through a symbolic link.
@Suite struct ExtendsLinkTests {
    private static let policy = #"""
        { "resource": "feed", "extends": "_base.json", "origin": { "use": "constant", "value": 1 } }
        """#
    private static let base = #"{ "about": "hunter2", "strategy": "network-only" }"#

    private static func link(_ folder: Folder, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.path + "/_base.json", withDestinationPath: target)
    }

    private static func result(_ folder: Folder) -> (problems: [Problem], about: String?) {
        let result = PolicyReader(registry: .standard, folder: folder.url.path, environment: [:]).check("feed.json")
        return (result.problems, result.policy?.about)
    }

    @Test func linkOutOfTheFolderIsNotExtended() throws {
        let (outside, folder) = (try Folder(), try Folder())
        try outside.write(Self.base, to: "secret.json")
        try folder.write(Self.policy, to: "feed.json")
        try Self.link(folder, to: outside.url.path + "/secret.json")
        let (problems, about) = Self.result(folder)
        #expect(about == nil && problems.map(\.path) == ["$.extends"])
        #expect(problems.map(\.message) == ["'_base.json' is a link that leaves the policy's folder"])
        #expect(problems.allSatisfy { !$0.withSource.contains("hunter2") })
    }

    @Test func linkThroughTheParentFolderIsNotExtended() throws {
        let outside = try Folder()
        try outside.write(Self.base, to: "secret.json")
        let path = outside.url.path + "/policies"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try outside.write(Self.policy, to: "policies/feed.json")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/_base.json", withDestinationPath: "../secret.json")
        let reader = PolicyReader(registry: .standard, folder: path, environment: [:])
        #expect(reader.check("feed.json").policy == nil)
    }

    @Test func linkInsideTheFolderIsExtended() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.url.path + "/..2026", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.path + "/..data", withDestinationPath: "..2026")
        try folder.write(Self.base, to: "..2026/_base.json")
        try folder.write(Self.policy, to: "feed.json")
        try Self.link(folder, to: "..data/_base.json")
        let (problems, about) = Self.result(folder)
        #expect(about == "hunter2" && problems.isEmpty, "\(problems)")
    }
}
