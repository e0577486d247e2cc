import LarderFoundation

/// The names through which a path leads to a folder, with links followed. If one of them is replaced, the path may lead
/// to another folder.
package struct FolderTrail: Equatable {
    /// A name, and the folder that contains it.
    package struct Step: Equatable {
        package var folder: String
        package var name: String
    }

    package private(set) var steps: [Step] = []
    /// The path of the folder without links; nil if the folder is missing. The last step is then the missing name.
    package private(set) var end: String?

    private static let mostLinks = 40

    /// Follows a path as it is now.
    package init(to path: String) {
        var rest = Self.names(path)
        if !path.hasPrefix("/") { rest += Self.names(Disk.realPath(".") ?? "/") }
        var current = ""
        var links = 0
        while let name = rest.popLast() {
            if name == ".." {
                current = current.lastIndex(of: "/").map { String(current[..<$0]) } ?? ""
                continue
            }
            let next = current + "/" + name
            steps.append(Step(folder: current.isEmpty ? "/" : current, name: name))
            switch Disk.kind(of: next) {
            case S_IFDIR: current = next
            case S_IFLNK:
                links += 1
                guard links <= Self.mostLinks, let target = Self.target(of: next) else { return }
                if target.hasPrefix("/") { current = "" }
                rest += Self.names(target)
            default: return
            }
        }
        end = current.isEmpty ? "/" : current
    }

    /// Returns the names of a path, the last one first.
    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
