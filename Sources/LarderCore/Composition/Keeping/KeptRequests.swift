#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import LarderBase

/// The requests whose instances are kept on the device, in a file of the data folder for each resource.
///
/// A list is changed by replacing its file, while no other process changes one. All methods block.
struct KeptRequests: Sendable {
    private static let place = "kept"
    private static let suffix = ".list"
    private static let head = "larder-kept 1"
    /// The largest file that is read: far more than a hundred thousand requests need.
    private static let mostBytes = 1 << 28

    private let data: DataFolder

    init(in data: DataFolder) {
        self.data = data
    }

    /// Whether anything was ever kept.
    var isNeeded: Bool { folder != nil }

    /// The folder, if anything was ever kept.
    private var folder: String? {
        data.existing(Self.place, of: PlaceName.pantry, section: "").flatMap { Disk.isThere($0) ? $0 : nil }
    }

    /// Returns the requests of a resource, in the order in which they were added.
    func requests(of resource: String) throws -> [Request] {
        try folder.map { try requests(in: $0 + "/" + Self.file(of: resource)) } ?? []
    }

    /// Returns the requests of all resources. Leaves out the lists that cannot be read.
    func all() -> [Request] {
        guard let folder, let items = try? Disk.list(folder) else { return [] }
        let names = items.map(\.name).filter { $0.hasSuffix(Self.suffix) }.sorted()
        return names.flatMap { (try? requests(in: folder + "/" + $0)) ?? [] }
    }

    /// Adds requests to the list of a resource. When this returns, they survive a power failure.
    func add(_ requests: [Request], of resource: String) throws {
        let folder = try data.place(Self.place, of: PlaceName.pantry, section: "").path
        try change(folder, Self.file(of: resource)) { present in
            var known = Set(present)
            return present + requests.filter { known.insert($0).inserted }
        }
    }

    /// Removes requests from the list of a resource.
    func remove(_ requests: [Request], of resource: String) throws {
        guard let folder else { return }
        let removed = Set(requests)
        try change(folder, Self.file(of: resource)) { $0.filter { !removed.contains($0) } }
    }

    /// Removes the requests whose keys a clearing selects. Those that it selects by a tag stay.
    ///
    /// - Parameter resource: the resource that is cleared; nil for all.
    func clear(_ selection: Selection, of resource: String?) throws {
        if case .tag = selection { return }
        guard let folder else { return }
        let files = try Disk.list(folder).map(\.name).filter { $0.hasSuffix(Self.suffix) }
        for file in files.sorted() where resource.map({ Self.file(of: $0) == file }) ?? true {
            try change(folder, file) { $0.filter { !selection.concerns($0.key, tags: []) } }
        }
    }

    private func change(_ folder: String, _ file: String, _ change: ([Request]) -> [Request]) throws {
        try Disk.locked(folder + "/lock") {
            let path = folder + "/" + file
            let present = try requests(in: path)
            let next = change(present)
            if next == present { return }
            if next.isEmpty {
                try Disk.remove(path)
            } else {
                let lines = [Self.head] + next.map(Self.line) + ["end", ""]
                try Disk.replaceDurably(path, with: Array(lines.joined(separator: "\n").utf8))
            }
            try Disk.sync(folder)
        }
    }

    private func requests(in path: String) throws -> [Request] {
        let bytes: [UInt8]
        do throws(Disk.Failure) {
            bytes = try Disk.read(path, limit: Self.mostBytes)
        } catch {
            if error.isMissing { return [] }
            throw error
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.first == Self.head[...], lines.last == "end" else {
            throw StoreError("the list of what is kept is damaged, or was written by a later version of Larder")
        }
        return lines.dropFirst().dropLast().compactMap(Self.request)
    }

    // MARK: Texts

    private static func file(of resource: String) -> String { PlaceName.folder(of: resource) + suffix }

    /// Returns a request as a line: the key, the body, and the fields.
    private static func line(_ request: Request) -> String {
        let body = request.body.map { "b" + $0.base64EncodedString() } ?? "-"
        let fields = request.fields.flatMap { [$0.name, $0.value] }
        return ([PercentEncoding.encoded(request.key.text), body] + fields.map { "f" + PercentEncoding.encoded($0) })
            .joined(separator: " ")
    }

    private static func request(_ line: Substring) -> Request? {
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
