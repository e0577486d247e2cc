import LarderSystem
import LarderCore

/// Large payloads, and payloads that are in files already, have a file of their own beside the entry's file.
///
/// The file has a new name for each payload, and it is never written again. It is there before the entry's file names
/// it and is deleted after the entry's file was replaced or deleted. So a process that is killed leaves a complete
/// entry, and perhaps a payload that no entry names. The next process deletes such a payload when it lists the folder,
/// unless another process is writing such an entry at the same moment.
extension FileStore {
    /// The contents of an entry's files.
    struct Contents {
        /// The contents of the entry's file.
        let parts: [[UInt8]]
        /// The payload with the name of its file; nil if the entry's file contains it.
        let payload: (file: String, content: Payload)?

        /// The size of the entry's file.
        var size: Int { parts.reduce(0) { $0 + $1.count } }

        /// The size of both files.
        var weight: Int { size + (payload?.content.bytes.count ?? 0) }
    }

    /// The first bytes of an entry's file whose payload is in a file of its own. They name that file and its size.
    struct PayloadReference {
        private static let magic = Array("larder-p".utf8)
        private static let tokenLength = 16
        static let length = 32
        /// The largest size that is believed, in bytes.
        private static let largest: UInt64 = 1 << 46

        /// The part of the name of the payload's file that is different for each payload.
        let token: String
        let size: Int

        init(token: String, size: Int) {
            (self.token, self.size) = (token, size)
        }

        /// Reads the beginning of an entry's file. Returns nil if the file contains the payload.
        init?(_ bytes: [UInt8]) {
            guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else { return nil }
            let rest = bytes[..<Self.length].dropFirst(Self.magic.count)
            token = String(decoding: rest.prefix(Self.tokenLength), as: UTF8.self)
            guard FileStore.isHexadecimal(token, count: Self.tokenLength) else { return nil }
            let number = rest.dropFirst(Self.tokenLength).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard number <= Self.largest else { return nil }
            size = Int(clamping: number)
        }

        var bytes: [UInt8] { Self.magic + token.utf8 + withUnsafeBytes(of: UInt64(size).littleEndian, Array.init) }
    }

    /// The size from which a payload in memory gets a file of its own, in bytes.
    private static let smallestPayloadFile = 1 << 17

    /// Returns the contents of the files of an entry.
    func contents(of entry: Entry, for key: Key, as name: String) throws(StoreError) -> Contents {
        let head = try entry.encodedHead(for: key)
        let payload = entry.payload
        guard payload.isFile || payload.bytes.count >= Self.smallestPayloadFile else {
            return Contents(parts: [head, Array(payload.bytes), Self.emptySlot(for: head)], payload: nil)
        }
        let reference = PayloadReference(token: Disk.randomName(), size: payload.bytes.count)
        return Contents(
            parts: [reference.bytes, head, Self.emptySlot(for: head)],
            payload: (Self.payloadName(of: name, reference.token), payload))
    }

    /// Returns the payload in the file that an entry's file names. Returns nil if it is missing.
    func payload(_ reference: PayloadReference, of name: String) throws(StoreError) -> Payload? {
        try Payload(mapping: path(Self.payloadName(of: name, reference.token)))
    }

    // MARK: Files

    /// Returns the name of the file with the payload of an entry on the disk; nil if there is none.
    func payloadFile(of name: String) -> String? {
        (try? reference(in: name)).map { Self.payloadName(of: name, $0.token) }
    }

    /// Returns the size of both files of an entry on the disk.
    func weight(of name: String) -> Int {
        (Disk.item(path(name))?.size ?? 0) + ((try? reference(in: name))?.size ?? 0)
    }

    private func reference(in name: String) throws(Disk.Failure) -> PayloadReference? {
        Self.isName(name) ? PayloadReference(try Disk.prefix(of: path(name), PayloadReference.length)) : nil
    }

    /// Makes the payload's file of an entry that is about to be written, if it needs one. If the disk is full, evicts as
    /// much as the file needs and tries once more.
    func makePayload(of contents: Contents, for name: String) throws(StoreError) {
        guard let (file, payload) = contents.payload else { return }
        do throws(StoreError) { try payload.makeFile(at: path(file)) } catch {
            if error.isFull {
                guard makeRoom(for: payload.bytes.count, sparing: name) else { throw error }
            } else if Disk.item(folder) == nil {
                do { try makeFolder() } catch { throw StoreError(error.description) }
            } else {
                throw error
            }
            try payload.makeFile(at: path(file))
        }
    }

    /// Runs `body`, which writes an entry. If the payload gets a file of its own, no other process deletes that file
    /// meanwhile because no entry names it yet.
    func sharingFolder<Result>(for contents: Contents, _ body: () throws -> Result) rethrows -> Result {
        try contents.payload == nil ? body() : Disk.sharing(folder, body)
    }

    /// Makes the payload's file again if it is missing. Another program may have deleted it, or the folder could not be
    /// locked.
    func restorePayload(of contents: Contents, for name: String) throws(StoreError) {
        guard let file = contents.payload?.file, Disk.item(path(file)) == nil else { return }
        try makePayload(of: contents, for: name)
    }

    /// Deletes the payload's file of an entry that is not written after all.
    func discardPayload(of contents: Contents) {
        if let file = contents.payload?.file { try? remove(file) }
    }

    /// Returns the listed files without those of payloads, whose sizes are added to their entries.
    ///
    /// - Parameter removesUnnamed: whether to delete the payloads that no entry names.
    func combined(_ items: [Disk.Item], removingUnnamed removesUnnamed: Bool) throws(StoreError) -> [Disk.Item] {
        var payloads: [String: Int] = [:]
        for item in items where Self.entryName(ofPayload: item.name) != nil { payloads[item.name] = item.size }
        if payloads.isEmpty { return items }
        let owners = Set(payloads.keys.compactMap(Self.entryName))
        // The entries whose files cannot be read now, for example because the device is locked. They may name payloads.
        var unreadable: Set<String> = []
        var combined: [Disk.Item] = []
        for var item in items where Self.entryName(ofPayload: item.name) == nil {
            if owners.contains(item.name) {
                do throws(Disk.Failure) {
                    let file = try reference(in: item.name).map { Self.payloadName(of: item.name, $0.token) }
                    item.size += file.flatMap { payloads.removeValue(forKey: $0) } ?? 0
                } catch {
                    if !error.isMissing { unreadable.insert(item.name) }
                }
            }
            combined.append(item)
        }
        let unnamed = payloads.keys.filter { Self.entryName(ofPayload: $0).map(unreadable.contains) == false }
        if removesUnnamed { try removeAll(unnamed) }
        return combined
    }

    // MARK: Names

    private static let payloadSuffix = ".payload"

    private static func payloadName(of name: String, _ token: String) -> String {
        "\(name.dropLast(entrySuffix.count)).\(token)\(payloadSuffix)"
    }

    /// Returns the name of the entry that a payload's file belongs to; nil if this is no name of a payload's file.
    static func entryName(ofPayload name: String) -> String? {
        guard name.hasSuffix(payloadSuffix) else { return nil }
        let stem = name.dropLast(payloadSuffix.count)
        guard let dot = stem.lastIndex(of: "."), isHexadecimal(stem[stem.index(after: dot)...], count: 16) else {
            return nil
        }
        let entry = stem[..<dot] + entrySuffix
        return isName(entry) ? String(entry) : nil
    }
}
