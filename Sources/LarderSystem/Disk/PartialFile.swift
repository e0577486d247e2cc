import LarderFoundation

/// A file that is being written and whose beginning outlives the process. So a later process can go on with it.
///
/// Beside the file lies a second one with facts about it and with the sums of its pieces. When the file is opened again,
/// everything after the last sound piece is cut off: a process that was killed or a power failure may have left
/// anything there. The file is locked while it is open.
package struct PartialFile: Sendable {
    /// One piece of the file.
    private struct Piece {
        static let length = 16

        /// The offset behind the piece.
        var end: Int
        var sum: UInt64

        var bytes: [UInt8] { Disk.littleEndian(UInt64(end)) + Disk.littleEndian(sum) }
    }

    /// The name in the folder, without the suffixes of the two files.
    package let name: String
    /// The facts.
    package let facts: [UInt8]
    /// The number of bytes.
    package private(set) var size: Int
    private let folder: String
    private let content: Int32
    private let notes: Int32
    /// The pieces that are not yet in the file of notes.
    private var pending: [Piece] = []
    /// The number of bytes whose pieces are in the file of notes.
    private var noted: Int

    /// A process that is killed loses at most this many bytes.
    private static let mostUnnoted = 1 << 18
    private static let longestFacts = 1 << 24
    private static let contentSuffix = ".part"
    private static let notesSuffix = ".notes"

    // MARK: Making and opening

    /// Makes an empty file that only its owner can read.
    package init(in folder: String, name: String, facts: [UInt8]) throws(Disk.Failure) {
        (self.name, self.folder, self.facts, size, noted) = (name, folder, facts, 0, 0)
        let path = folder + "/" + name
        content = open(path + Self.contentSuffix, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard content >= 0 else { throw Disk.Failure("create a file") }
        // The lock comes before the notes: a file without notes that is not locked is worthless.
        _ = flock(content, LOCK_EX | LOCK_NB)
        notes = open(path + Self.notesSuffix, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        do throws(Disk.Failure) {
            guard notes >= 0 else { throw Disk.Failure("create a file") }
            try Disk.write(Disk.littleEndian(UInt64(facts.count)) + facts, to: notes)
        } catch {
            discard()
            throw error
        }
    }

    /// Opens a file that is not open elsewhere, and cuts off what is not sound.
    ///
    /// - Parameter isWanted: returns whether the file with these facts is wanted. If not, it stays as it is.
    /// - Returns: nil if there is no such file, or if it is open elsewhere or not wanted.
    package init?(openingIn folder: String, name: String, if isWanted: ([UInt8]) -> Bool) {
        let path = folder + "/" + name
        let content = open(path + Self.contentSuffix, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard content >= 0 else { return nil }
        var status = stat()
        // The file may have been deleted before it was locked.
        guard flock(content, LOCK_EX | LOCK_NB) == 0, fstat(content, &status) == 0, status.st_nlink > 0,
            status.st_mode & S_IFMT == S_IFREG
        else {
            Disk.unlock(content)
            return nil
        }
        let notes = open(path + Self.notesSuffix, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard notes >= 0, let (facts, pieces) = Self.notes(in: notes), isWanted(facts) else {
            Disk.unlock(content)
            if notes >= 0 { close(notes) }
            return nil
        }
        let (count, size) = Self.sound(pieces, in: content)
        (self.name, self.folder, self.facts, self.size, noted) = (name, folder, facts, size, size)
        (self.content, self.notes) = (content, notes)
        let isCut =
            ftruncate(content, off_t(size)) == 0 && lseek(content, 0, SEEK_END) == size
            && ftruncate(notes, off_t(8 + facts.count + count * Piece.length)) == 0 && lseek(notes, 0, SEEK_END) > 0
        guard isCut else {
            discard()
            return nil
        }
    }

    /// Reads the file of notes. Returns nil if it has no complete facts.
    private static func notes(in file: Int32) -> (facts: [UInt8], pieces: [Piece])? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size < 1 << 30,
            let bytes = try? Disk.bytes(of: file, from: 0, count: Int(status.st_size)), bytes.count >= 8
        else { return nil }
        let count = Disk.number(bytes[..<8])
        guard count <= UInt64(min(longestFacts, bytes.count - 8)) else { return nil }
        let facts = Array(bytes[8..<8 + Int(count)])
        var pieces: [Piece] = []
        for start in stride(from: 8 + facts.count, through: bytes.count - Piece.length, by: Piece.length) {
            let end = Disk.number(bytes[start..<start + 8])
            guard end < 1 << 46, Int(end) > pieces.last?.end ?? 0 else { break }
            pieces.append(Piece(end: Int(end), sum: Disk.number(bytes[start + 8..<start + 16])))
        }
        return (facts, pieces)
    }

    /// Returns the number of pieces, from the first one, whose bytes are as they were written, and their size.
    private static func sound(_ pieces: [Piece], in file: Int32) -> (count: Int, size: Int) {
        var size = 0
        for (count, piece) in pieces.enumerated() {
            let length = piece.end - size
            guard length <= 1 << 28, let bytes = try? Disk.bytes(of: file, from: size, count: length),
                bytes.count == length, bytes.withUnsafeBytes(Checksum.fast) == piece.sum
            else { return (count, size) }
            size = piece.end
        }
        return (pieces.count, size)
    }

    // MARK: Writing

    /// Adds bytes at the end.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) throws(Disk.Failure) {
        if bytes.isEmpty { return }
        try Disk.write(bytes, to: content)
        size += bytes.count
        pending.append(Piece(end: size, sum: Checksum.fast(of: bytes)))
        if size - noted >= Self.mostUnnoted { try note() }
    }

    private mutating func note() throws(Disk.Failure) {
        try Disk.write(pending.flatMap(\.bytes), to: notes)
        (pending, noted) = ([], size)
    }

    /// Closes the file, so that it can be opened again. It must not be used through this value any more.
    package mutating func suspend() {
        try? note()
        close(notes)
        Disk.unlock(content)
    }

    /// Returns the complete file, which has its notes no more. It must not be used through this value any more.
    package func finished() throws(Disk.Failure) -> SharedFile {
        close(notes)
        let path = folder + "/" + name
        unlink(path + Self.notesSuffix)
        do throws(Disk.Failure) {
            return try SharedFile(taking: content, temporary: path + Self.contentSuffix)
        } catch {
            unlink(path + Self.contentSuffix)
            throw error
        }
    }

    /// Deletes the file. It must not be used through this value any more.
    package func discard() {
        Self.remove(name, in: folder)
        if notes >= 0 { close(notes) }
        Disk.unlock(content)
    }

    // MARK: The folder

    /// Returns the names of the files in a folder that have notes, and when they were last written to, the latest first.
    /// Deletes what is left of others.
    package static func list(_ folder: String) throws(Disk.Failure) -> [(name: String, size: Int, modified: Int64)] {
        let items = try Disk.list(folder)
        let noted = Set(items.map(\.name).filter { $0.hasSuffix(notesSuffix) }.map { $0.dropLast(notesSuffix.count) })
        var found: [(name: String, size: Int, modified: Int64)] = []
        var contents: Set<Substring> = []
        for item in items where item.name.hasSuffix(contentSuffix) {
            let name = item.name.dropLast(contentSuffix.count)
            contents.insert(name)
            if noted.contains(name) {
                found.append((String(name), item.size, item.modified))
            } else if !Disk.isHeld(folder + "/" + item.name) {
                try? Disk.remove(folder + "/" + item.name)
            }
        }
        for name in noted.subtracting(contents) { try? Disk.remove(folder + "/" + name + notesSuffix) }
        return found.sorted { ($0.modified, $0.name) > ($1.modified, $1.name) }
    }

    /// Returns the facts about a file; nil if there are none.
    package static func facts(of name: String, in folder: String) -> [UInt8]? {
        let file = open(folder + "/" + name + notesSuffix, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return notes(in: file)?.facts
    }

    /// Returns whether a file is open, in this process or another one.
    package static func isOpen(_ name: String, in folder: String) -> Bool {
        Disk.isHeld(folder + "/" + name + contentSuffix)
    }

    /// Deletes a file, even if it is open.
    package static func remove(_ name: String, in folder: String) {
        unlink(folder + "/" + name + notesSuffix)
        unlink(folder + "/" + name + contentSuffix)
    }
}

extension Disk {
    fileprivate static func littleEndian(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init)
    }

    fileprivate static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
