extension JSONText {
    /// The members of an object that is written one member after the other. No two may have the same name.
    ///
    /// ```swift
    /// var members = JSONText.Members()
    /// members.add("title", title)
    /// if count > 1 { members.add("count", count) }
    /// let text = JSONText(object: members)
    /// ```
    public struct Members: Sendable {
        fileprivate var bytes: [UInt8] = []

        /// Begins an object without members.
        ///
        /// - Parameter size: about the number of bytes that the object will have.
        public init(size: Int = 256) {
            bytes.reserveCapacity(size)
            bytes.append(UInt8(ascii: "{"))
        }

        /// Adds a value; nothing for nil.
        public mutating func add(_ name: String, _ value: JSONText?) {
            guard let value else { return }
            begin(name)
            bytes += value.bytes
        }

        /// Adds a list.
        public mutating func add(_ name: String, list items: [JSONText]) {
            begin(name)
            JSONText.write(items, to: &bytes)
        }

        /// Adds a string; nothing for nil.
        public mutating func add(_ name: String, _ text: String?) {
            guard let text else { return }
            begin(name)
            JSONText.write(text, to: &bytes)
        }

        /// Adds a whole number; nothing for nil.
        public mutating func add(_ name: String, _ number: Int64?) {
            guard let number else { return }
            begin(name)
            bytes += String(number).utf8
        }

        /// Adds a truth value; nothing for nil.
        public mutating func add(_ name: String, _ value: Bool?) {
            guard let value else { return }
            begin(name)
            bytes += (value ? "true" : "false").utf8
        }

        private mutating func begin(_ name: String) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONText.write(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
    }

    /// Creates an object of members.
    public init(object members: consuming Members) {
        members.bytes.append(UInt8(ascii: "}"))
        bytes = members.bytes
    }
}
