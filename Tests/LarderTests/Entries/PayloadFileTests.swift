import Foundation
import LarderSimulation
import Testing

import Larder
@testable import LarderSystem
@testable import LarderCore

@Suite struct PayloadFileTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func inode(_ name: String) throws -> UInt64 { try #require(Disk.stamp(of: path(name))).inode }

    private func sink(capacity: Int = 10_000_000, canBeUnnamed: Bool = true) throws -> PayloadSink {
        PayloadSink(try NewFile(in: folder.path, canBeUnnamed: canBeUnnamed), capacity: capacity)
    }

    private func written(_ count: Int, canBeUnnamed: Bool = true) throws -> Payload {
        let sink = try sink(canBeUnnamed: canBeUnnamed)
        try sink.write([UInt8](repeating: 7, count: count))
        return try sink.finish()
    }

    private let large = 200_000

    // MARK: Sinks

    @Test(arguments: [true, false]) func sinkReturnsAllBytesInFile(_ canBeUnnamed: Bool) throws {
        let sink = try sink(canBeUnnamed: canBeUnnamed)
        var expected = Data()
        for number in 0..<200 {
            let chunk = Data(repeating: UInt8(number), count: 1_000)
            try sink.write(chunk)
            expected += chunk
        }
        #expect(sink.size == 200_000)
        let payload = try sink.finish()
        #expect(payload.isFile && payload.bytes == expected)
    }

    @Test func smallPayloadOfSinkIsReadIntoMemory() throws {
        let payload = try written(1_000)
        #expect(!payload.isFile && payload.bytes == Data(repeating: 7, count: 1_000))
        #expect(folder.names(below: "") == [])
        #expect(try written(0).bytes.isEmpty)
    }

    @Test func unfinishedSinkLeavesNothingEvenIfItsProcessWereKilled() throws {
        let sink = try sink()
        try sink.write([UInt8](repeating: 7, count: large))
        #if os(Linux)
            #expect(folder.names(below: "") == [])
        #endif
        withExtendedLifetime(sink) {}
    }

    @Test func releasedSinkDeletesItsFile() throws {
        do {
            let sink = try sink(canBeUnnamed: false)
            try sink.write([UInt8](repeating: 7, count: large))
            #expect(folder.names(below: "").count == 1)
        }
        #expect(folder.names(below: "") == [])
    }

    @Test(arguments: [true, false]) func tooLargePayloadFailsAndDeletesItsFile(_ canBeUnnamed: Bool) throws {
        let sink = try sink(capacity: large, canBeUnnamed: canBeUnnamed)
        try sink.write([UInt8](repeating: 7, count: large))
        let error = #expect(throws: LoadError.self) { try sink.write([1] as [UInt8]) }
        #expect(error?.message == "the payload is larger than 200000 bytes")
        #expect(throws: LoadError.self) { try sink.write([1] as [UInt8]) }
        #expect(throws: LoadError.self) { try sink.finish() }
        #expect(folder.names(below: "") == [])
    }

    @Test func finishedSinkCannotBeUsedAgain() throws {
        let sink = try sink()
        try sink.write([1, 2] as [UInt8])
        _ = try sink.finish()
        #expect(throws: LoadError.self) { try sink.write([1] as [UInt8]) }
        #expect(throws: LoadError.self) { try sink.finish() }
    }

    @Test func filesOfEndedProcessesAreRemovedAndThoseInUseStay() throws {
        let sink = try sink(canBeUnnamed: false)
        try sink.write([UInt8](repeating: 7, count: large))
        try folder.write("half", to: "payload-0123456789abcdef")
        try folder.write("mine", to: "notes")
        NewFile.removeRemains(in: folder.path)
        #expect(folder.names(below: "").filter { $0.hasPrefix("payload-") }.count == 1)
        #expect(folder.names(below: "").contains("notes"))
        #expect(try sink.finish().bytes.count == large)
    }

    @Test func nextStartDeletesUnfinishedPayloads() throws {
        try SimulatedWorld().run { world in
            let cache = try TemporaryFolder()
            try cache.write("half", to: ".incoming/payload-0123456789abcdef")
            let feed = #"{ "resource": "feed", "origin": "scripted", "strategy": "network-only" }"#
            _ = try await SimulatedPantry(["feed": feed], in: world, cache: cache)
            #expect(try Disk.list(cache.path + "/.incoming").isEmpty)
        }
    }

    // MARK: Names

    @Test(arguments: [true, false]) func finishedPayloadGetsNamesWithoutBeingCopied(_ canBeUnnamed: Bool) throws {
        let payload = try written(large, canBeUnnamed: canBeUnnamed)
        try payload.makeFile(at: path("a"))
        try payload.makeFile(at: path("b"))
        #expect(folder.names(below: "") == ["a", "b"])
        #expect(try inode("a") == inode("b"))
        #expect(try Data(contentsOf: folder.url.appending(path: "a")) == payload.bytes)
        let attributes = try FileManager.default.attributesOfItem(atPath: path("a"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func releasedPayloadIsLinkedToItsStoredFileOrCopied() throws {
        let payload = try written(large)
        try payload.makeFile(at: path("a"))
        payload.releaseFile()
        try payload.makeFile(at: path("b"))
        #expect(try inode("a") == inode("b"))
        // The last name that the payload knows now belongs to another file.
        try FileManager.default.removeItem(atPath: path("b"))
        try folder.write("another", to: "b")
        try payload.makeFile(at: path("c"))
        #expect(try Data(contentsOf: folder.url.appending(path: "c")) == payload.bytes)
        #expect(try folder.text(of: "b") == "another")
    }

    @Test func payloadInMemoryIsWrittenToFile() throws {
        let payload = Payload(Data("one".utf8))
        try payload.makeFile(at: path("a"))
        #expect(!payload.isFile)
        #expect(try folder.text(of: "a") == "one")
    }

    @Test(arguments: [true, false]) func existingFileIsNeverReplaced(_ isFile: Bool) throws {
        let payload = isFile ? try written(large) : Payload(Data("one".utf8))
        try folder.write("mine", to: "a")
        #expect(throws: StoreError.self) { try payload.makeFile(at: path("a")) }
        #expect(try folder.text(of: "a") == "mine")
    }

    @Test func fileStaysReadableWhenItIsDeletedOrReplaced() throws {
        let payload = try written(large)
        try payload.makeFile(at: path("a"))
        let again = try #require(try Payload(mapping: path("a")))
        try FileManager.default.removeItem(atPath: path("a"))
        try folder.write("another", to: "a")
        #expect(again.isFile && again.bytes == payload.bytes)
        let value = again.bytes[100..<200]
        #expect(value == Data(repeating: 7, count: 100))
    }

    /// `Data` changes the bytes of its only owner in place.
    @Test func changedCopyOfBytesLeavesFileAlone() throws {
        try written(large).makeFile(at: path("a"))
        var bytes = try #require(try Payload(mapping: path("a"))).bytes
        bytes[0] = 1
        bytes.append(2)
        #expect(bytes[0] == 1 && bytes.count == large + 1)
        #expect(try Data(contentsOf: folder.url.appending(path: "a")) == Data(repeating: 7, count: large))
    }

    @Test func missingFilesFoldersAndLinksAreNoPayloads() throws {
        try folder.write("one", to: "a")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("a"))
        for name in ["none", "", "link", "a/b"] { #expect(try Payload(mapping: path(name)) == nil) }
        for name in ["none", "", "link"] {
            #expect(throws: LoadError.self) { try Payload(adopting: folder.url.appending(path: name)) }
        }
        #expect(try #require(try Payload(mapping: path("a"))).bytes == Data("one".utf8))
    }

    // MARK: Adopted files

    @Test func adoptedFileIsMovedToTheFirstStoreAndLinkedToTheSecond() throws {
        try folder.write("a download", to: "download")
        let number = try inode("download")
        let payload = try Payload(adopting: folder.url.appending(path: "download"))
        #expect(folder.names(below: "") == ["download"])
        try payload.makeFile(at: path("a"))
        #expect(folder.names(below: "") == ["a"])
        try payload.makeFile(at: path("b"))
        #expect(try inode("a") == number && inode("b") == number)
        #expect(payload.bytes == Data("a download".utf8))
    }

    @Test func adoptedFileThatNoStoreKeepsIsDeleted() throws {
        try folder.write("a download", to: "download")
        do {
            let payload = try Payload(adopting: folder.url.appending(path: "download"))
            payload.releaseFile()
            #expect(folder.names(below: "") == [])
            #expect(payload.bytes == Data("a download".utf8))
        }
        try folder.write("a download", to: "download")
        _ = try Payload(adopting: folder.url.appending(path: "download"))
        #expect(folder.names(below: "") == [])
    }

    @Test func adoptedFileWithAnotherNameIsCopied() throws {
        try folder.write("a download", to: "download")
        try FileManager.default.linkItem(atPath: path("download"), toPath: path("mine"))
        do {
            let payload = try Payload(adopting: folder.url.appending(path: "download"))
            try payload.makeFile(at: path("a"))
        }
        #expect(folder.names(below: "") == ["a", "mine"])
        #expect(try inode("a") != inode("mine") && folder.text(of: "a") == "a download")
    }

    @Test func fileThatReplacedTheAdoptedOneIsNotDeleted() throws {
        try folder.write("a download", to: "download")
        do {
            let payload = try Payload(adopting: folder.url.appending(path: "download"))
            try folder.write("another download", to: "other")
            try #require(rename(path("other"), path("download")) == 0)
            try payload.makeFile(at: path("a"))
        }
        #expect(try folder.text(of: "a") == "a download" && folder.text(of: "download") == "another download")
    }

    @Test func manyThreadsShareOnePayload() async throws {
        let payload = try written(large)
        let sum = payload.bytes.reduce(0) { $0 + Int($1) }
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask { [folder] in
                    if number == 8 { payload.releaseFile() }
                    let name = folder.path + "/\(number)"
                    guard (try? payload.makeFile(at: name)) != nil else { return false }
                    let copy = try? Payload(mapping: name)
                    return copy?.bytes == payload.bytes && payload.bytes.reduce(0) { $0 + Int($1) } == sum
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(folder.names(below: "").count == 16)
    }
}
