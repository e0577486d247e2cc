import LarderCore

/// The directives of the field `Cache-Control` of a request or an answer (RFC 9111, section 5.2, RFC 5861 and RFC 8246).
///
/// Unknown directives are ignored. Of several directives with one name, the strictest counts. A number that is not
/// valid counts as the strictest number there is. Some elements are no directives, such as `max-age=60; no-store`. Of
/// their words, those that forbid something count, and those that permit something do not.
struct CacheControl: Hashable {
    /// The directives without a number.
    private(set) var flags: ServerRules.Flags = []
    /// The value of `max-age` in seconds.
    private(set) var maxAge: Int64?
    /// The value of `s-maxage` in seconds.
    private(set) var sharedMaxAge: Int64?
    /// The value of `stale-while-revalidate` in seconds.
    private(set) var staleWhileRevalidate: Int64?
    /// The value of `stale-if-error` in seconds.
    private(set) var staleIfError: Int64?
    /// The value of `min-fresh` in seconds.
    private(set) var minFresh: Int64?
    /// The value of `max-stale` in seconds. Without a value, it is the largest number.
    private(set) var maxStale: Int64?

    /// Reads the values of all fields with the name `Cache-Control`.
    init(_ values: [String]) {
        for value in values {
            for directive in HTTPText.elements(value) { add(directive) }
        }
    }

    private mutating func add(_ directive: ArraySlice<UInt8>) {
        guard HTTPText.isDirective(directive) else {
            for word in directive.split(whereSeparator: { !HTTPText.isTokenByte($0) }) { addRestriction(word) }
            return
        }
        let equals = directive.firstIndex(of: UInt8(ascii: "="))
        let name = directive[..<(equals ?? directive.endIndex)]
        let value = equals.map { directive[($0 + 1)...] }
        switch String(decoding: name.map(HTTPText.lowercased), as: UTF8.self) {
        case "no-store": flags.insert(.noStore)
        // With the names of fields, these directives concern only the fields. They are read as concerning the answer.
        case "no-cache": flags.insert(.noCache)
        case "private": flags.insert(.isPrivate)
        case "must-revalidate": flags.insert(.mustRevalidate)
        case "proxy-revalidate": flags.insert(.proxyRevalidate)
        case "public": flags.insert(.isPublic)
        case "immutable": flags.insert(.immutable)
        case "must-understand": flags.insert(.mustUnderstand)
        case "max-age": maxAge = Self.shortest(maxAge, seconds(value))
        case "s-maxage": sharedMaxAge = Self.shortest(sharedMaxAge, seconds(value))
        case "stale-while-revalidate":
            staleWhileRevalidate = Self.shortest(staleWhileRevalidate, seconds(value))
        case "stale-if-error": staleIfError = Self.shortest(staleIfError, seconds(value))
        case "max-stale":
            maxStale = Self.shortest(maxStale, value == nil ? HTTPText.mostSeconds : seconds(value))
        case "min-fresh": minFresh = max(minFresh ?? 0, seconds(value) ?? HTTPText.mostSeconds)
        default: break
        }
    }

    /// Adds the restriction that a word stands for, as strict as it can be.
    private mutating func addRestriction(_ word: ArraySlice<UInt8>) {
        switch String(decoding: word.map(HTTPText.lowercased), as: UTF8.self) {
        case "no-store": flags.insert(.noStore)
        case "private": flags.insert(.isPrivate)
        // The last three would also permit that an answer to credentials is kept.
        case "no-cache", "must-revalidate", "proxy-revalidate", "s-maxage": flags.insert(.noCache)
        case "max-age": maxAge = 0
        case "stale-while-revalidate": staleWhileRevalidate = 0
        case "stale-if-error": staleIfError = 0
        case "max-stale": maxStale = 0
        case "min-fresh": minFresh = HTTPText.mostSeconds
        default: break
        }
    }

    private static func shortest(_ known: Int64?, _ seconds: Int64?) -> Int64 {
        min(known ?? HTTPText.mostSeconds, seconds ?? 0)
    }

    /// Returns the number of a directive; nil if it is not valid. It may be in quotes.
    private func seconds(_ value: ArraySlice<UInt8>?) -> Int64? {
        guard let value else { return nil }
        let quote = UInt8(ascii: "\"")
        let isQuoted = value.count >= 2 && value.first == quote && value.last == quote
        return HTTPText.seconds(isQuoted ? value.dropFirst().dropLast() : value)
    }
}

extension HTTPText {
    /// Returns whether bytes are a directive: a name, which a value may follow that is a word or stands in quotes.
    static func isDirective(_ bytes: ArraySlice<UInt8>) -> Bool {
        let name = bytes.prefix(while: isTokenByte)
        let rest = bytes[name.endIndex...]
        if name.isEmpty || rest.isEmpty { return !name.isEmpty }
        guard rest.first == UInt8(ascii: "=") else { return false }
        let value = rest.dropFirst()
        guard value.first == UInt8(ascii: "\"") else { return !value.isEmpty && value.allSatisfy(isTokenByte) }
        var isEscaped = false
        for (place, byte) in zip(value.indices, value).dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                return place == value.endIndex - 1
            }
        }
        return false
    }

    /// Returns whether a byte may be part of a word (RFC 9110, section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        URLTemplate.isLetterOrDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Returns the elements of a list that are not empty, without the blanks around them. A comma between quotes does
    /// not separate elements.
    static func elements(_ list: String) -> [ArraySlice<UInt8>] {
        let bytes = Array(list.utf8)
        var elements: [ArraySlice<UInt8>] = []
        var start = 0
        var isQuoted = false
        var isEscaped = false
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                elements.append(trimmed(bytes[start..<place]))
                start = place + 1
            default: break
            }
        }
        elements.append(trimmed(bytes[start...]))
        return elements.filter { !$0.isEmpty }
    }
}
