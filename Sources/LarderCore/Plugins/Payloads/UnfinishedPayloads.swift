import LarderSystem

/// The beginnings of payloads whose calls ended before they were complete, in a place of each resource.
///
/// The name of a file contains digests of the key and of the scope, so a clearing finds what it selects without reading
/// the files. A clearing by tag deletes all of them, because the tags of a payload are known when it is complete.
///
/// All methods block, except ``mayHave(_:)``.
final class UnfinishedPayloads: Sendable {
    /// The largest number of files of one resource.
    private static let mostFiles = 16
    /// The size of all files of one resource, in bytes, from which only the latest one is kept.
    private static let mostBytes = 1_000_000_000
    /// The age from which a file is deleted.
    private static let longestAge = Duration.seconds(7 * 86_400)

    private let places: Places
    /// The places that are held, by their resources; nil after the end. The lock orders the making of files and the
    /// clearings.
    private let held = BlockingLock<[String: StorePlace]?>([:])
    /// The keys of which there may be files, as digests by their resources; nil for a resource that was not examined.
    private let digests = Locked<[String: Set<String>]>([:])

    init(in places: Places) {
        self.places = places
    }

    // MARK: Looking

    /// Returns whether there may be a file for a key.
    func mayHave(_ key: Key) -> Bool {
        let known = digests.withLock { $0[key.resource] }
        return known.map { !$0.isEmpty && $0.contains(Self.digest(of: key)) } ?? true
    }

    /// Returns a file for a key whose facts suit. Returns nil if there is none, or if it is open elsewhere.
    ///
    /// - Returns: also whether one is open elsewhere.
    func file(
        for key: Key, where suits: (Metadata) -> Bool
    ) -> (file: (PartialFile, Metadata)?, isOpen: Bool) {
        guard let folder = held.withLock({ folder(of: key.resource, makingIt: false, &$0) }) else {
            digests.withLock { $0[key.resource] = [] }
            return (nil, false)
        }
        let digest = Self.digest(of: key)
        var isOpen = false
        for name in names(in: folder, of: key.resource) where name.hasPrefix(digest) {
            var metadata: Metadata?
            let file = PartialFile(openingIn: folder, name: name) { facts in
                metadata = self.metadata(in: facts, for: key)
                return metadata.map(suits) ?? false
            }
            if let file, let metadata { return ((file, metadata), false) }
            if metadata == nil, PartialFile.isOpen(name, in: folder) { isOpen = true }
        }
        return (nil, isOpen)
    }

    private func metadata(in facts: [UInt8], for key: Key) -> Metadata? {
        guard let head = try? EncodedHead(of: facts), head.isOf(key), isYoung(head.metadata) else { return nil }
        return head.metadata
    }

    private func isYoung(_ metadata: Metadata) -> Bool {
        (.zero..<Self.longestAge).contains(places.world.now - metadata.fetchedAt)
    }

    /// Returns the names of the files that are kept, and deletes the others.
    private func names(in folder: String, of resource: String) -> [String] {
        var kept: [String] = []
        var size = 0
        for file in (try? PartialFile.list(folder)) ?? [] {
            size += file.size
            let isKept =
                kept.count < Self.mostFiles && (kept.isEmpty || size <= Self.mostBytes)
                && PartialFile.facts(of: file.name, in: folder).flatMap { try? Metadata(ofEncoded: $0) }.map(isYoung)
                    == true
            if isKept || PartialFile.isOpen(file.name, in: folder) {
                kept.append(file.name)
            } else {
                PartialFile.remove(file.name, in: folder)
            }
        }
        let present = Set(kept.map { String($0.prefix(Self.digestLength)) })
        digests.withLock { $0[resource] = present }
        return kept
    }

    // MARK: Making

    /// Makes a file for the payload of a call.
    ///
    /// - Returns: nil if what the call loads was cleared since it began.
    /// - Throws: an error if the place cannot be used.
    func makeFile(for call: Call, _ metadata: Metadata) throws -> PartialFile? {
        var metadata = metadata
        metadata.setTimes(fetchedAt: places.world.now, validatedAt: nil)
        let facts = try Entry.encodedHead(owner: call.key.text, metadata, payloadSize: 0)
        return try held.withLock { held in
            guard let folder = folder(of: call.key.resource, makingIt: true, &held) else { return nil }
            // A clearing that comes later finds the file.
            if call.ticket?.mayBeVoid == true { return nil }
            let file = try PartialFile(in: folder, name: Self.name(for: call.key), facts: facts)
            digests.withLock { _ = $0[call.key.resource]?.insert(Self.digest(of: call.key)) }
            return file
        }
    }

    /// Notes that a file was closed and stays.
    func suspended(_ name: String, of resource: String) {
        if let folder = held.withLock({ $0?[resource]?.path }) { _ = names(in: folder, of: resource) }
    }

    private func folder(of resource: String, makingIt: Bool, _ held: inout [String: StorePlace]?) -> String? {
        guard let taken = held else { return nil }
        let name = PlaceName.payloads(of: resource)
        if let place = taken[resource] {
            if makingIt { try? place.restore() }
            return place.path
        }
        guard makingIt || Disk.isThere(places.path(of: name)),
            let (place, clearings) = try? places.take(name)
        else {
            return nil
        }
        // A process was killed before it cleared them.
        if !clearings.isEmpty { _ = try? clear(.all, in: place.path) }
        held?[resource] = place
        return place.path
    }

    /// Releases the places. From now on, nothing is found and nothing is kept.
    func close() { held.withLock { $0 = nil } }

    // MARK: Clearing

    /// Deletes the selected files.
    ///
    /// - Parameters:
    ///   - resource: the folder of the resource that is cleared; nil for all.
    ///   - concerned: the places to which the clearing is limited; nil for all.
    /// - Returns: the places that were cleared, and the first failure.
    func clear(
        _ selection: Selection, of resource: String?, in concerned: Set<PlaceName>? = nil
    ) -> (places: Set<PlaceName>, failure: (any Error)?) {
        guard places.areKnown else { return ([], nil) }
        return held.withLock { _ in
            var (cleared, failure): (Set<PlaceName>, (any Error)?) = ([], nil)
            do {
                let names = try places.locked { manifest in
                    manifest.listings.keys.filter { name in
                        name.holdsPayloads && (resource == nil || resource == name.folder)
                            && concerned?.contains(name) != false
                    }
                }
                for name in names {
                    do {
                        try clear(selection, in: places.path(of: name))
                        cleared.insert(name)
                    } catch {
                        failure = error
                    }
                }
            } catch {
                failure = error
            }
            return (cleared, failure)
        }
    }

    private func clear(_ selection: Selection, in folder: String) throws {
        guard Disk.isThere(folder) else { return }
        for item in try Disk.list(folder) where Self.isSelected(item.name, by: selection) {
            try Disk.remove(folder + "/" + item.name)
        }
    }

    // MARK: Names

    private static let digestLength = 32

    private static func digest(of key: Key) -> String { String(key.base.digest.prefix(digestLength)) }

    private static func digest(of scope: String?) -> String {
        scope.map { String(SHA256.hex($0.utf8).prefix(digestLength)) } ?? String(repeating: "0", count: digestLength)
    }

    private static func name(for key: Key) -> String {
        "\(digest(of: key))-\(digest(of: key.scope))-\(Disk.randomName())"
    }

    private static func isSelected(_ name: String, by selection: Selection) -> Bool {
        switch selection {
        case .all, .tag: true
        case .key(let key): name.hasPrefix(digest(of: key))
        case .scope(let scope): name.dropFirst(digestLength + 1).hasPrefix(digest(of: scope))
        }
    }
}

extension PlaceName {
    /// The place of the unfinished payloads of a resource. No store and no section has it.
    static func payloads(of resource: String) -> PlaceName { PlaceName(resource: resource, section: "", "payloads") }

    /// Whether this is the place of the unfinished payloads of a resource.
    var holdsPayloads: Bool { name == "@payloads" }
}
