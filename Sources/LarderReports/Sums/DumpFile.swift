package import Larder
import LarderSystem

/// A file that may be a dump. It may be compressed by gzip.
package struct DumpFile: Sendable {
    /// The path, as it was given.
    package let path: String
    /// Whether the file was found in a folder, and not named itself.
    var isFound: Bool

    package init(path: String, isFound: Bool = false) {
        self.path = path
        self.isFound = isFound
    }

    /// The number of bytes in which the head of a dump is expected.
    private static let headBytes = 1 << 14
    /// The beginning of the formats of Larder's files.
    private static let ownFormat = "larder-"
    private static let dumpFormat = "larder-metrics/"

    /// Returns the head of the dump. Reads only the beginning of the file if the head is there.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if the file is not a dump. A file whose beginning is sound may still be
    ///   damaged later on.
    func head() throws(MetricsDump.Unreadable) -> MetricsDump.Head {
        if let start = try? Disk.part(of: path, from: 0, most: Self.headBytes).bytes,
            let head = MetricsDump.head(beginning: Self.unpacked(beginning: start))
        {
            return head
        }
        return try MetricsDump(reading: try bytes()).head
    }

    /// Reads the dump.
    package func dump() throws(MetricsDump.Unreadable) -> MetricsDump { try MetricsDump(reading: try bytes()) }

    /// Whether this was found in a folder and is another kind of file that Larder writes, which may lie beside dumps.
    var isOtherKind: Bool {
        guard isFound, let start = try? Disk.part(of: path, from: 0, most: 256).bytes else { return false }
        let text = String(decoding: start, as: UTF8.self)
        guard let name = text.firstRange(of: #""format""#) else { return false }
        let value = text[name.upperBound...].drop { " :\n\r\t".contains($0) }.dropFirst()
        return value.hasPrefix(Self.ownFormat) && !value.hasPrefix(Self.dumpFormat)
    }

    /// The largest file of another kind that is looked into. A tree takes many times the memory of its text.
    private static let mostForeignBytes = 1_000_000

    /// Whether this was found in a folder and is JSON that does not claim to be a dump.
    var isForeign: Bool {
        guard isFound, let bytes = try? bytes(), bytes.count <= Self.mostForeignBytes,
            let root = try? JSONParser.parse(SourceText(name: "", bytes: bytes))
        else { return false }
        return root["format"]?.string?.hasPrefix(Self.dumpFormat) != true
    }

    /// The words for a number of such files.
    package static func skipped(foreign count: Int) -> String {
        counted(
            count, one: "JSON file that is no metrics dump was skipped",
            many: "JSON files that are no metrics dumps were skipped")
    }

    private static func unpacked(beginning bytes: [UInt8]) -> [UInt8] {
        guard Gzip.isPacked(bytes) else { return bytes }
        return (try? Gzip.beginning(of: bytes, most: headBytes)) ?? []
    }

    private func bytes() throws(MetricsDump.Unreadable) -> [UInt8] {
        let bytes: [UInt8]
        do { bytes = try Disk.read(path, limit: MetricsDump.mostBytes) } catch {
            let isTooLarge = error.code == Disk.tooLarge
            throw MetricsDump.Unreadable(
                isTooLarge ? "larger than \(MetricsDump.mostBytes / 1_000_000) MB" : error.description)
        }
        guard Gzip.isPacked(bytes) else { return bytes }
        do { return try Gzip.unpacked(bytes, limit: MetricsDump.mostBytes) } catch {
            throw MetricsDump.Unreadable(error.description)
        }
    }
}

extension DumpFile {
    /// Returns the files that the operands of a command name: files, folders and, for `-`, the names in a list.
    ///
    /// Of a folder, it returns the files whose names end in `.json` or `.json.gz`, in the order of their names.
    ///
    /// - Parameter list: called for `-`. Returns names that are separated by line ends, or by zeros.
    package static func all(_ operands: [String], list: () -> [UInt8]) -> [DumpFile] {
        var paths: [String] = []
        for operand in operands { paths += operand == "-" ? names(in: list()) : [operand] }
        return paths.flatMap { path -> [DumpFile] in
            guard Disk.item(path)?.isFolder == true, let items = try? Disk.list(path) else {
                return [DumpFile(path: path)]
            }
            let names = items.filter { !$0.isFolder && isName($0.name) }.map(\.name).sorted()
            let folder = path.hasSuffix("/") ? path : path + "/"
            return names.map { DumpFile(path: folder + $0, isFound: true) }
        }
    }

    /// Whether a file in a folder may be a dump, by its name.
    static func isName(_ name: String) -> Bool { name.hasSuffix(".json") || name.hasSuffix(".json.gz") }

    private static func names(in list: [UInt8]) -> [String] {
        let end: UInt8 = list.contains(0) ? 0 : UInt8(ascii: "\n")
        return list.split(separator: end).map { name in
            let name = end == 0 || name.last != UInt8(ascii: "\r") ? name : name.dropLast()
            return String(decoding: name, as: UTF8.self)
        }.filter { !$0.isEmpty }
    }
}
