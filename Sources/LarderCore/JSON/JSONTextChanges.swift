extension JSONText {
    /// Returns the text with another value at a path of member names. All other bytes stay as they are.
    ///
    /// Objects on the way that are missing are made. A value on the way that is no object is replaced by one.
    ///
    /// - Parameter value: the new value; nil to remove the member.
    public func setting(_ path: [String], to value: JSONText?) -> JSONText { setting([(path, value)]) }

    /// Returns the text with other values at paths of member names, as if they were set one after the other. Each object is
    /// read once.
    ///
    /// - Parameter changes: the paths and the new values; nil to remove the member. A text that is removed as a whole is
    ///   `null`.
    public func setting(_ changes: [(path: [String], value: JSONText?)]) -> JSONText {
        if changes.isEmpty { return self }
        return bytes.withUnsafeBufferPointer { buffer in
            var writer = JSONChangeWriter()
            writer.output.reserveCapacity(buffer.count)
            let isThere = writer.write(changes.map { ($0.path[...], $0.value) }, over: buffer)
            return isThere ? JSONText(checked: writer.output) : .null
        }
    }

    // MARK: Strings

    /// Returns the text with another value in place of each string that is `text`.
    ///
    /// Where `text` is a part of a longer string, or of a member's name, the name of `value` takes its place. A name stays
    /// if its object would have two members of one name otherwise. Nothing else changes.
    ///
    /// - Parameter text: a text of letters, digits and hyphens that no word or other string contains by chance.
    public func replacing(_ text: String, with value: JSONText) -> JSONText {
        let wanted = Array(text.utf8)
        guard let name = value.name, !wanted.isEmpty, bytes.count >= wanted.count else { return self }
        // The name without quotes, as a part of a string.
        let inner = Array(JSONText(string: name).bytes.dropFirst().dropLast())
        let (result, hasNewNames) = replacing(wanted, with: value.bytes, inner, inNames: true)
        if hasNewNames, (try? JSONText(result)) == nil {
            return JSONText(checked: replacing(wanted, with: value.bytes, inner, inNames: false).result)
        }
        return JSONText(checked: result)
    }

    /// - Parameters:
    ///   - value: what takes the place of a string.
    ///   - inner: what takes the place of a part of a string.
    private func replacing(
        _ wanted: [UInt8], with value: [UInt8], _ inner: [UInt8], inNames: Bool
    ) -> (result: [UInt8], hasNewNames: Bool) {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var hasNewNames = false
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\"") else {
                result.append(bytes[position])
                position += 1
                continue
            }
            let end = JSONScanner.end(ofStringAt: position, in: bytes)
            let string = bytes[position..<end]
            position = end
            let isName = bytes[end...].first { $0 > 0x20 } == UInt8(ascii: ":")
            if !isName, string.dropFirst().dropLast().elementsEqual(wanted) {
                result += value
            } else if isName && !inNames {
                result += string
            } else {
                let before = result.count
                Self.copy(string, replacing: wanted, with: inner, to: &result)
                if isName, !result[before...].elementsEqual(string) { hasNewNames = true }
            }
        }
        return (result, hasNewNames)
    }

    /// Copies a string. A text does not begin inside an escape.
    private static func copy(
        _ string: ArraySlice<UInt8>, replacing wanted: [UInt8], with inner: [UInt8], to result: inout [UInt8]
    ) {
        var rest = string
        while let byte = rest.first {
            if byte == wanted[0], rest.starts(with: wanted) {
                result += inner
                rest = rest.dropFirst(wanted.count)
                continue
            }
            let isEscape = byte == UInt8(ascii: "\\")
            let count = !isEscape ? 1 : rest[rest.startIndex + 1] == UInt8(ascii: "u") ? 6 : 2
            result += rest.prefix(count)
            rest = rest.dropFirst(count)
        }
    }

    // MARK: Names

    /// The text with the names of members written without escapes, as far as JSON allows. Values stay as they are.
    ///
    /// Some versions of SQLite find a member only by the bytes of its name.
    public var withPlainNames: JSONText {
        guard bytes.contains(UInt8(ascii: "\\")) else { return self }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copied = 0
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\"") else {
                position += 1
                continue
            }
            let start = position
            position = JSONScanner.end(ofStringAt: start, in: bytes)
            guard bytes[start..<position].contains(UInt8(ascii: "\\")),
                bytes[position...].first(where: { $0 > 0x20 }) == UInt8(ascii: ":")
            else { continue }
            result += bytes[copied..<start]
            result += JSONText(string: JSONText(checked: bytes[start..<position]).string ?? "").bytes
            copied = position
        }
        return copied == 0 ? self : JSONText(checked: result + bytes[copied...])
    }
}

/// Writes texts with changes into one buffer.
private struct JSONChangeWriter {
    typealias Change = (path: ArraySlice<String>, value: JSONText?)

    var output: [UInt8] = []

    /// The changes of a member, and of what is inside it.
    private struct Member {
        var name: String
        var changes: [Change]
        var isWritten = false
    }

    /// The number of members from which on a table finds them.
    private static let manyMembers = 8

    /// Writes a value with changes.
    ///
    /// - Parameter source: the value without them; nil if there is none.
    /// - Returns: whether there is a value then.
    mutating func write(_ changes: [Change], over source: UnsafeBufferPointer<UInt8>?) -> Bool {
        // The last change of the whole value makes those before it void.
        if let last = changes.lastIndex(where: { $0.path.isEmpty }) {
            let later = Array(changes[(last + 1)...])
            guard let value = changes[last].value else { return write(later, over: nil) }
            return value.bytes.withUnsafeBufferPointer { write(later, over: $0) }
        }
        if let source, source.first == UInt8(ascii: "{") {
            writeObject(changes, over: source)
        } else if changes.contains(where: { $0.value != nil }) {
            JSONText.object.bytes.withUnsafeBufferPointer { writeObject(changes, over: $0) }
        } else if let source {
            output += source
        } else {
            return false
        }
        return true
    }

    private mutating func writeObject(_ changes: [Change], over source: UnsafeBufferPointer<UInt8>) {
        var members = Self.members(changes)
        let places = members.count < Self.manyMembers ? nil : Self.places(members)
        var left = members.count
        // Everything before this place is written.
        var copied = 0
        // The comma before the member, or its beginning if it is the first one that stays.
        var start = 1
        var isFirst = true
        JSONScanner.eachMember(of: source) { name, value in
            let next = JSONScanner.skippingSpace(value.upperBound, source)
            defer { start = isFirst && source[next] == UInt8(ascii: ",") ? next + 1 : next }
            let place =
                if let places {
                    places[Array(JSONScanner.string(in: source, name).utf8)]
                } else {
                    members.firstIndex { JSONScanner.isName($0.name, at: name, source) }
                }
            guard let place else {
                isFirst = false
                return true
            }
            output += source[copied..<start]
            let before = output.count
            output += source[start..<value.lowerBound]
            let inner = UnsafeBufferPointer(rebasing: source[value])
            if write(members[place].changes, over: inner) {
                isFirst = false
                copied = value.upperBound
            } else {
                output.removeLast(output.count - before)
                copied = isFirst && source[next] == UInt8(ascii: ",") ? next + 1 : next
            }
            members[place].isWritten = true
            left -= 1
            return left > 0
        }
        output += source[copied..<(source.count - 1)]
        for member in members where !member.isWritten { add(member) }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func add(_ member: Member) {
        // A member that is only removed is not there.
        if !member.changes.contains(where: { $0.value != nil }) { return }
        let end = output.count
        while output.last.map({ $0 <= 0x20 }) == true { output.removeLast() }
        let before = output.count
        if output.last != UInt8(ascii: "{") { output.append(UInt8(ascii: ",")) }
        output += JSONText(string: member.name).bytes
        output.append(UInt8(ascii: ":"))
        if write(member.changes, over: nil) { return }
        // It was set and removed again.
        output.removeLast(output.count - before)
        output += repeatElement(0x20, count: end - before)
    }

    /// Returns the members that changes concern, in the order in which they are named first.
    private static func members(_ changes: [Change]) -> [Member] {
        if changes.count == 1, let change = changes.first, let name = change.path.first {
            return [Member(name: name, changes: [(change.path.dropFirst(), change.value)])]
        }
        var members: [Member] = []
        var places: [[UInt8]: Int] = [:]
        for change in changes {
            guard let name = change.path.first else { continue }
            let inner = (change.path.dropFirst(), change.value)
            if let place = places[Array(name.utf8)] {
                members[place].changes.append(inner)
            } else {
                places[Array(name.utf8)] = members.count
                members.append(Member(name: name, changes: [inner]))
            }
        }
        return members
    }

    private static func places(_ members: [Member]) -> [[UInt8]: Int] {
        Dictionary(uniqueKeysWithValues: members.enumerated().map { (Array($1.name.utf8), $0) })
    }
}
