import LarderFoundation
import LarderSystem

/// The requests whose instances are kept on the device, in a file of the data folder for each resource.
///
/// A list is changed by adding a line for each request, `+` or `-`, while no other process changes it. When most of the
/// lines have no effect any more, the file is written anew. All methods block.
struct KeptRequests: Sendable {
    private static let place = "kept"
    private static let suffix = ".list"
    private static let head = "larder-kept 2\n"
    /// The largest file that is read: far more than a hundred thousand requests need.
    private static let mostBytes = 1 << 28
    /// The size of lines without effect that is not worth another file.
    private static let slack = 65_536

    /// A request as a line of the list, without its sign.
    typealias Line = Substring

    private let data: DataFolder
    /// The files as this process has left them.
    private let left = Locked<[String: Sizes]>([:])
    /// The files whose changes by other processes this one has followed; nil for a file that was not there.
    private let followed = Locked<[String: FileStamp?]>([:])

    /// The sizes of a file in bytes.
    private struct Sizes {
        /// The size of the lines that were in effect when the file was last read or written anew.
        let used: Int
        var all: Int
    }

    init(in data: DataFolder) { self.data = data }

    /// Whether anything was ever kept.
    var isNeeded: Bool { folder != nil }

    /// The folder, if anything was ever kept.
    private var folder: String? {
        data.existing(Self.place, of: PlaceName.pantry, section: "").flatMap { Disk.isThere($0) ? $0 : nil }
    }

    /// Returns the requests of a resource, in the order in which they were added.
    func requests(of resource: String) throws -> [Request] {
        try folder.map { try lines(in: $0 + "/" + Self.file(of: resource)) }?.compactMap(Self.request) ?? []
    }

    /// Returns those of the lines that are on the list of a resource.
    func listed(_ lines: Set<Line>, of resource: String) throws -> Set<Line> {
        guard let folder else { return [] }
        var listed: Set<Line> = []
        try changes(in: folder + "/" + Self.file(of: resource)) { line, isAdded in
            guard lines.contains(line) else { return }
            if isAdded { listed.insert(line) } else { listed.remove(line) }
        }
        return listed
    }

    /// Returns the lines of a resource if another process may have changed them since the last call.
    func linesChangedElsewhere(of resource: String) throws -> [Line]? {
        guard let folder else { return nil }
        let path = folder + "/" + Self.file(of: resource)
        // It may change again while it is read.
        let stamp = Disk.stamp(of: path)
        if isFollowed(path, stamp) { return nil }
        let lines = try lines(in: path)
        followed.withLock { $0[path] = .some(stamp) }
        return lines
    }

    /// Returns the lines of all resources. Leaves out the lists that cannot be read.
    func all() -> [Line] {
        guard let folder, let items = try? Disk.list(folder) else { return [] }
        let names = items.map(\.name).filter { $0.hasSuffix(Self.suffix) }.sorted()
        return names.flatMap { (try? lines(in: folder + "/" + $0)) ?? [] }
    }

    /// Adds lines to the list of a resource. When this returns, they survive a power failure.
    func add(_ lines: [Line], of resource: String) throws {
        let folder = try data.place(Self.place, of: PlaceName.pantry, section: "").path
        try change(Self.file(of: resource), in: folder) { path in
            if try append(lines, "+", to: path) { return }
            var known: Set<Line> = []
            try replace(path, with: (self.lines(in: path) + lines).filter { known.insert($0).inserted })
        }
    }

    /// Removes lines from the list of a resource.
    func remove(_ lines: [Line], of resource: String) throws {
        guard let folder else { return }
        let removed = Set(lines)
        try change(Self.file(of: resource), in: folder) { path in
            if try append(Array(removed), "-", to: path) { return }
            try rewrite(path) { !removed.contains($0) }
        }
    }

    /// Removes the requests whose keys a clearing selects, and every trace of them. Those that it selects by a tag stay.
    ///
    /// - Parameter resource: the resource that is cleared; nil for all.
    func clear(_ selection: Selection, of resource: String?) throws {
        if case .tag = selection { return }
        guard let folder else { return }
        let files = try Disk.list(folder).map(\.name).filter { $0.hasSuffix(Self.suffix) }
        for file in files.sorted() where resource.map({ Self.file(of: $0) == file }) ?? true {
            try change(file, in: folder) { path in
                try rewrite(path) { line in
                    Self.request(line).map { !selection.concerns($0.key, tags: []) } ?? true
                }
            }
        }
    }

    // MARK: Files

    /// Changes a list while no other process does.
    private func change(_ file: String, in folder: String, _ change: (_ path: String) throws -> Void) throws {
        let path = folder + "/" + file
        try Disk.locked(folder + "/lock") {
            let isFollowed = isFollowed(path, Disk.stamp(of: path))
            try change(path)
            if isFollowed { followed.withLock { $0[path] = .some(Disk.stamp(of: path)) } }
        }
    }

    /// Returns whether this process has followed all changes up to this state of a file.
    private func isFollowed(_ path: String, _ stamp: FileStamp?) -> Bool {
        followed.withLock { followed in followed[path].map { $0 == stamp } ?? false }
    }

    /// Writes the list anew with those of its lines that `isKept` selects, if there is anything to leave out.
    private func rewrite(_ path: String, keeping isKept: (Line) -> Bool) throws {
        var count = 0
        let present = try lines(in: path, counting: &count)
        let next = present.filter(isKept)
        if next.count < count { try replace(path, with: next) }
    }

    private func replace(_ path: String, with lines: [Line]) throws {
        let bytes = Array((Self.head + lines.map { "+ " + $0 + "\n" }.joined()).utf8)
        if lines.isEmpty { try Disk.remove(path) } else { try Disk.replaceDurably(path, with: bytes) }
        left.withLock { $0[path] = lines.isEmpty ? nil : Sizes(used: bytes.count, all: bytes.count) }
        if let slash = path.lastIndex(of: "/") { try Disk.sync(String(path[..<slash])) }
    }

    /// Adds lines at the end of a file. Returns false if the file must be written anew, because there is none, it is
    /// incomplete or in another format, or most of its lines have no effect.
    private func append(_ lines: [Line], _ sign: String, to path: String) throws -> Bool {
        if lines.isEmpty { return true }
        guard let size = Disk.item(path)?.size, size > 0 else { return false }
        let tail = try Disk.tail(of: path, from: size - 1, after: Array(Self.head.utf8), limit: Self.mostBytes)
        guard !tail.isWhole, tail.bytes.last == UInt8(ascii: "\n") else { return false }
        let bytes = Array(lines.map { "\(sign) \($0)\n" }.joined().utf8)
        var sizes = try left.withLock { $0[path] } ?? self.sizes(of: path, all: size)
        // Another process has changed it, or damaged it.
        if sizes.all != size { sizes = try self.sizes(of: path, all: size) }
        sizes.all = size + bytes.count
        guard sizes.all <= 2 * sizes.used + Self.slack else { return false }
        left.withLock { $0[path] = nil }
        try Disk.append(bytes, to: path)
        try Disk.sync(path)
        left.withLock { [sizes] in $0[path] = sizes }
        return true
    }

    private func sizes(of path: String, all: Int) throws -> Sizes {
        Sizes(used: try lines(in: path).reduce(Self.head.utf8.count) { $0 + $1.utf8.count + 3 }, all: all)
    }

    /// Returns the lines of a list that are in effect, in the order in which they were added.
    private func lines(in path: String) throws -> [Line] {
        var count = 0
        return try lines(in: path, counting: &count)
    }

    /// - Parameter count: is set to the number of all lines, also of those without effect.
    private func lines(in path: String, counting count: inout Int) throws -> [Line] {
        var (lines, places): ([Line?], [Line: Int]) = ([], [:])
        count = 0
        let isWhole = try changes(in: path) { line, isAdded in
            count += 1
            if isAdded {
                if places[line] != nil { return }
                places[line] = lines.count
                lines.append(line)
            } else if let place = places.removeValue(forKey: line) {
                lines[place] = nil
            }
        }
        if !isWhole { count += 1 }
        return lines.compactMap(\.self)
    }

    /// Calls `body` with each change of a list, the first first. A last line that was not written to its end was never
    /// in effect.
    ///
    /// - Returns: whether the last line was written to its end.
    @discardableResult
    private func changes(in path: String, _ body: (_ line: Line, _ isAdded: Bool) -> Void) throws -> Bool {
        let bytes: [UInt8]
        do throws(Disk.Failure) {
            bytes = try Disk.read(path, limit: Self.mostBytes)
        } catch {
            if error.isMissing { return true }
            throw error
        }
        let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let text = String(decoding: bytes[..<end], as: UTF8.self)
        guard text.hasPrefix(Self.head) else { throw Self.damage }
        for line in text.dropFirst(Self.head.count).split(separator: "\n") {
            guard line.hasPrefix("+ ") || line.hasPrefix("- ") else { throw Self.damage }
            body(line.dropFirst(2), line.hasPrefix("+"))
        }
        return end == bytes.count
    }

    private static var damage: StoreError {
        StoreError("the list of what is kept is damaged, or was written by a later version of Larder")
    }

    // MARK: Texts

    private static func file(of resource: String) -> String { PlaceName.folder(of: resource) + suffix }

    /// Returns a request as a line: the key, the body, and the fields.
    static func line(_ request: Request) -> Line {
        let body = request.body.map { "b" + $0.base64EncodedString() } ?? "-"
        let fields = request.fields.flatMap { [$0.name, $0.value] }
        return ([PercentEncoding.encoded(request.key.text), body] + fields.map { "f" + PercentEncoding.encoded($0) })
            .joined(separator: " ")[...]
    }

    /// Returns the request of a line; nil if there is none, which a damaged file may have.
    static func request(_ line: Line) -> Request? {
        let words = line.split(separator: " ")
        guard words.count >= 2, words.count.isMultiple(of: 2),
            let key = PercentEncoding.decoded(words[0].utf8).flatMap(Key.init(text:)), !key.isVariant
        else { return nil }
        let body = words[1].hasPrefix("b") ? Data(base64Encoded: String(words[1].dropFirst())) : nil
        var fields = Fields()
        for place in stride(from: 2, to: words.count, by: 2) {
            guard let name = PercentEncoding.decoded(words[place].utf8.dropFirst()),
                let value = PercentEncoding.decoded(words[place + 1].utf8.dropFirst()),
                let field = Fields.Field(name, value)
            else { return nil }
            fields.add(field)
        }
        let request = Request(
            key.resource, key.parameters, scope: key.scope, priority: .low, fields: fields, body: body)
        // The digest of another body would be part of the key.
        return request.key == key ? request : nil
    }
}

extension Request {
    /// The request as a list of kept requests has it: without what concerns one load only, and without credentials.
    var asKept: Request {
        var kept = Fields()
        for field in fields where !["authorization", "cookie", "proxy-authorization"].contains(field.name) {
            kept.add(field)
        }
        return Request(
            key, mode: .normal, deadline: nil, priority: .low, fields: kept, body: body, purpose: .user,
            noOlderThan: nil)
    }
}
