import LarderFoundation
import LarderSystem
import LarderCore

// The metadata of files. Each file consists of the encoded entry and a slot for renewed metadata, which is zeros at
// first. A renewal writes an encoded head into the slot. The space of the slot was taken when the file was written, so
// a renewal needs none, and the head and the payload before the slot never change. If a crash leaves a slot incomplete,
// its checksum is wrong, and the entry has its first metadata again. Files of earlier versions have no slot.
extension FileStore {
    /// A file without its payload.
    struct FileHead {
        /// The head with which the entry was written.
        var written: EncodedHead
        /// The metadata, which may be renewed.
        var metadata: Metadata
        /// The size of the file in bytes.
        var size: Int
        /// The payload's own file; nil if this file contains the payload.
        var payload: PayloadReference?
        /// The position of the slot.
        var slot: Int {
            payload == nil ? written.size + written.payloadSize : PayloadReference.length + written.size
        }
        /// The size of both files.
        var weight: Int { size + (payload?.size ?? 0) }
    }

    /// The room for metadata that become longer, in bytes.
    private static let slack = 128

    /// The largest head that is read without its payload, and the largest slot, in bytes.
    private static let longestHead = 1 << 20

    /// Returns the empty slot of an entry with this head.
    static func emptySlot(for head: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: head.count + slack) }

    func renew(_ entry: Entry, for key: Key) async throws -> Bool {
        try await blocking {
            try list()
            return try changing.withLock { _ in try renew(entry, key: key, name: Self.name(of: key)) }
        }
    }

    /// Writes renewed metadata into the slot of a file. The caller must hold the lock `changing`.
    ///
    /// - Returns: false if the file has another payload, or no slot that is large enough.
    private func renew(_ entry: Entry, key: Key, name: String) throws(StoreError) -> Bool {
        let time = entry.metadata.validatedAt ?? entry.metadata.fetchedAt
        guard files.peek(name, hash: name.hashValue) != nil, isYoung(time, name), let file = head(of: name),
            file.written.isOf(key), file.written.metadata.isOfSamePayload(as: entry.metadata),
            file.written.payloadSize == entry.payload.bytes.count
        else { return false }
        let bytes = try entry.encodedHead(for: key)
        guard bytes.count <= file.size - file.slot else { return false }
        do throws(Disk.Failure) {
            try Disk.overwrite(path(name), at: file.slot, with: bytes, modified: time.nanoseconds)
        } catch {
            if error.isMissing { return false }
            throw StoreError(error.description)
        }
        _ = insert(time, as: name, weight: file.weight)
        return true
    }

    /// Returns the entry in the bytes of a file. Returns nil if it belongs to another key.
    ///
    /// - Parameter isLocked: whether the caller holds the lock `changing`. An incomplete slot is then that of a process
    ///   that crashed. Otherwise it may be being written, which is an error, so that the file is read again.
    func entry(in bytes: [UInt8], of name: String, for key: Key, isLocked: Bool) throws(StoreError) -> Entry? {
        let reference = PayloadReference(bytes)
        let bytes = reference == nil ? bytes : Array(bytes[PayloadReference.length...])
        let head = try EncodedHead(of: bytes)
        let end = head.size + (reference == nil ? head.payloadSize : 0)
        guard end <= bytes.count else { throw StoreError.damaged }
        guard head.isOf(key) else { return nil }
        let slot = Array(bytes[end...])
        let metadata = Self.renewed(head, by: slot)
        if metadata == nil, !isLocked, slot.first ?? 0 != 0 { throw StoreError.damaged }
        guard let reference else { return Entry(Data(bytes[head.size..<end]), metadata ?? head.metadata) }
        guard let payload = try payload(reference, of: name) else { return nil }
        guard payload.bytes.count == head.payloadSize, reference.size == head.payloadSize else {
            throw StoreError.damaged
        }
        return Entry(payload, metadata ?? head.metadata)
    }

    /// Returns the metadata in a slot. Returns nil if the slot is empty or incomplete.
    private static func renewed(_ written: EncodedHead, by slot: [UInt8]) -> Metadata? {
        guard slot.first ?? 0 != 0, let head = try? EncodedHead(of: slot), head.isSameEntry(as: written) else {
            return nil
        }
        return head.metadata
    }

    /// Returns the head of a file, which is read without the payload. Returns nil if the file is missing or damaged.
    func head(of name: String) -> FileHead? {
        guard let item = Disk.item(path(name)), !item.isFolder,
            let first = try? Disk.part(of: path(name), from: 0, most: 4_096)
        else { return nil }
        let reference = PayloadReference(first.bytes)
        let start = reference == nil ? 0 : PayloadReference.length
        var bytes = Array(first.bytes[start...])
        if let size = EncodedHead.size(of: bytes), size > bytes.count, size <= min(item.size, Self.longestHead) {
            guard let whole = try? Disk.part(of: path(name), from: start, most: size) else { return nil }
            bytes = whole.bytes
        }
        guard let written = try? EncodedHead(of: bytes) else { return nil }
        var head = FileHead(written: written, metadata: written.metadata, size: item.size, payload: reference)
        let slot = try? Disk.part(of: path(name), from: head.slot, most: Self.longestHead).bytes
        if let metadata = slot.flatMap({ Self.renewed(written, by: $0) }) { head.metadata = metadata }
        if !first.isWritable { head.metadata.isExpired = true }
        return head
    }
}

extension EncodedHead {
    /// Returns whether both belong to the same payload under the same key.
    fileprivate func isSameEntry(as other: EncodedHead) -> Bool {
        key == other.key && payloadSize == other.payloadSize && metadata.isOfSamePayload(as: other.metadata)
    }
}
