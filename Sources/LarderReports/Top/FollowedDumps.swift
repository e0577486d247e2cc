package import Larder
import LarderSystem

/// Files of dumps that are read again when they change. A file that is missing or half-written is tried again.
package struct FollowedDumps {
    /// A difference to the reading before.
    package enum Change {
        case dump(MetricsDump)
        /// A file that cannot be read, although it has not changed since the reading before.
        case unreadable(file: String, reason: String)
        /// A file in a folder that is another kind of JSON file.
        case foreign(file: String)
        case deleted(file: String)
    }

    private struct Seen {
        var stamp: FileStamp
        /// Whether the file can be read, or is known to be no dump.
        var isDone: Bool
        /// Whether the file's dump was read.
        var isDump = false
    }

    private let paths: [String]
    private let read: (String) throws(MetricsDump.Unreadable) -> MetricsDump
    private var seen: [String: Seen] = [:]

    /// Begins with no file read.
    ///
    /// - Parameters:
    ///   - paths: files, and folders of files.
    ///   - read: reads the dump in a file.
    package init(_ paths: [String], read: @escaping (String) throws(MetricsDump.Unreadable) -> MetricsDump) {
        self.paths = paths
        self.read = read
    }

    /// Reads the files that have changed, in the order of their names.
    package mutating func changes(at now: Int64 = Disk.now) -> [Change] {
        var changes: [Change] = []
        let present = files()
        for (path, stamp) in present {
            let former = seen[path]
            if let former, former.stamp == stamp, former.isDone { continue }
            do {
                changes.append(.dump(try read(path)))
                // A file that changed just now may change again without another stamp.
                seen[path] = Seen(stamp: stamp, isDone: stamp.isReliable(at: now), isDump: true)
            } catch {
                // It may be half-written. The next reading will tell.
                let isSure = former?.stamp == stamp
                if isSure {
                    let file = DumpFile(path: path, isFound: !paths.contains(path))
                    changes.append(
                        file.isOtherKind || file.isForeign
                            ? .foreign(file: path) : .unreadable(file: path, reason: error.description))
                }
                seen[path] = Seen(stamp: stamp, isDone: isSure, isDump: former?.isDump ?? false)
            }
        }
        let names = Set(present.map(\.path))
        for (path, former) in seen.sorted(by: { $0.key < $1.key }) where !names.contains(path) {
            seen[path] = nil
            if former.isDump { changes.append(.deleted(file: path)) }
        }
        return changes
    }

    private func files() -> [(path: String, stamp: FileStamp)] {
        paths.flatMap { path -> [(path: String, stamp: FileStamp)] in
            guard let stamp = Disk.stamp(of: path) else { return [] }
            guard stamp.isFolder else { return [(path, stamp)] }
            let items = (try? Disk.stamps(in: path) { DumpFile.isName($0) }) ?? []
            return items.compactMap { item in
                item.stamp.flatMap { $0.isFolder ? nil : (path + "/" + item.name, $0) }
            }.sorted { $0.path < $1.path }
        }
    }
}
