import LarderFoundation
import Larder

// Finding an entry by its key or its digest.
extension OpenStores {
    /// The fewest digits of a digest that are looked for.
    private static let fewestDigits = 4
    /// The most digests that an error names.
    private static let mostNamed = 5

    /// Calls `body` with each entry of a resource, and shows the progress.
    func forEachEntry(of resource: Resource<Data>, _ body: (ListedEntry) -> Void) async throws {
        let progress = Progress(terminal, "store \(call.subcommand.rawValue)")
        defer { progress.end() }
        let total = Double(max(1, try await resource.statistics().entries))
        var count = 0
        var cursor: StoreCursor?
        repeat {
            let page = try await resource.list(after: cursor, most: 500)
            for entry in page.entries { body(entry) }
            count += page.entries.count
            progress.show(min(1, Double(count) / total), counted(count, one: "entry", many: "entries"))
            cursor = page.next
        } while cursor != nil
    }

    /// Returns the key that the call names.
    ///
    /// - Throws: ``CommandFailure`` if there is no such entry, or if a digest is the beginning of several.
    func key(in resource: Resource<Data>) async throws -> Key {
        guard let text = call.entry else { throw UsageError(message: "store \(call.subcommand.usage)") }
        if let key = Key(text: text), key.resource == resource.name {
            if try await resource.hasCopies(under: key) { return key }
            throw CommandFailure("\(resource.name): no entry has this key")
        }
        let digits = text.lowercased()
        guard digits.utf8.allSatisfy("0123456789abcdef".utf8.contains), digits.utf8.count <= 64 else {
            throw CommandFailure(
                "\(resource.name): '\(text.printable)' is neither a key of \(resource.name), such as "
                    + "'\(Key(resource: resource.name).text)?id=42', nor a digest")
        }
        guard digits.utf8.count >= Self.fewestDigits else {
            throw CommandFailure("\(resource.name): a digest needs at least \(Self.fewestDigits) digits")
        }
        return try await key(whoseDigestBegins: digits, in: resource)
    }

    private func key(whoseDigestBegins digits: String, in resource: Resource<Data>) async throws -> Key {
        var found: [String: Key?] = [:]
        try await forEachEntry(of: resource) { entry in
            if entry.digest.hasPrefix(digits) { found[entry.digest] = entry.key }
        }
        if found.count > 1 {
            let names = found.keys.sorted().prefix(Self.mostNamed).map { $0.prefix(digits.count + 8) + "…" }
            let more = found.count > names.count ? " and \(found.count - names.count) more" : ""
            throw CommandFailure(
                "\(resource.name): \(found.count) digests begin with '\(digits)': "
                    + names.joined(separator: ", ") + more)
        }
        guard let (_, key) = found.first else {
            throw CommandFailure("\(resource.name): no entry has the digest '\(digits)'")
        }
        guard let key else {
            throw CommandFailure("\(resource.name): the store does not know the key of this entry")
        }
        return key
    }
}
