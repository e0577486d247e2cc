import Foundation
import Larder
import LarderSystem
import LarderSimulation

/// A folder as it was in a revision of a Git repository. The command `git` reads it; nothing in the repository changes.
struct GitRevision {
    /// A folder or a file in a revision.
    private struct Item {
        let hash: String
        let size: Int
        let path: String
    }

    /// Policies are small. A revision with more is probably the wrong folder.
    private static let (mostFiles, mostBytes) = (5_000, 1 << 28)

    /// The name in Git, such as `HEAD~1:Policies`.
    let name: String
    /// The operand that names it, for messages.
    let operand: String
    /// The folder in which `git` is called, and whose repository it reads.
    let folder: String

    /// Whether the name is that of a file.
    func isFile() throws -> Bool {
        let type = try git(["cat-file", "-t", name])
        return String(decoding: type, as: UTF8.self).hasPrefix("blob")
    }

    /// Writes all files of the folder below `path`. Links and submodules are left out.
    func write(to path: String) throws {
        let items = try list()
        guard items.count <= Self.mostFiles, items.reduce(0, { $0 + $1.size }) <= Self.mostBytes else {
            throw CommandFailure("\(operand) has too many files for a folder of policies")
        }
        for item in items {
            let parts = item.path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
                throw CommandFailure("\(operand) has a file whose path leads out of it")
            }
            try Disk.makeFolder(([path] + parts.dropLast().map(String.init)).joined(separator: "/"))
            try Disk.put(path + "/" + item.path, Array(git(["cat-file", "blob", item.hash])))
        }
    }

    private func list() throws -> [Item] {
        try git(["ls-tree", "-r", "-z", "--long", "--full-tree", name]).split(separator: 0).compactMap { line in
            // mode, type, hash and size before a tab, and the path after it
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
            let facts = String(decoding: line[..<tab], as: UTF8.self).split(separator: " ")
            guard facts.count == 4, facts[0].hasPrefix("100"), let size = Int(facts[3]) else { return nil }
            let path = String(decoding: line[line.index(after: tab)...], as: UTF8.self)
            return Item(hash: String(facts[2]), size: size, path: path)
        }
    }

    private func git(_ arguments: [String]) throws -> Data {
        if name.hasPrefix("-") { throw CommandFailure("'\(operand)' is neither a path nor a revision") }
        #if os(macOS) || os(Linux) || os(Windows)
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["git", "-C", folder] + arguments
            let (output, errors) = (Pipe(), Pipe())
            (process.standardOutput, process.standardError) = (output, errors)
            process.standardInput = FileHandle.nullDevice
            do { try process.run() } catch {
                throw CommandFailure("cannot start git, which reads '\(operand)'")
            }
            let data = output.fileHandleForReading.readDataToEndOfFile()
            let complaint = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            // The status of a shell for a command that is not there.
            if process.terminationStatus == 127 {
                throw CommandFailure("'\(operand)' is no path, and git, which reads revisions, is not installed")
            }
            guard process.terminationStatus == 0 else {
                let text = String(decoding: complaint.prefix(1_000), as: UTF8.self).split(separator: "\n").first ?? ""
                let place = folder == "." ? "" : " of the folder \(folder)"
                throw CommandFailure("'\(operand)' is neither a path nor a revision\(place): git says '\(text)'")
            }
            return data
        #else
            throw CommandFailure("'\(operand)' is not a path, and revisions can be read only where git can run")
        #endif
    }
}
