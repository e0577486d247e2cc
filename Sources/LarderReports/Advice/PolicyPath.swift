import Larder

/// The place of a value in a policy, such as `validators[0].onError`.
package struct PolicyPath: Sendable, Hashable, CustomStringConvertible {
    enum Step: Sendable, Hashable {
        case member(String)
        case item(Int)
    }

    var steps: [Step]

    init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Reads a JSON Pointer, such as `/validators/0/onError`. Returns nil if it is none.
    init?(pointer: String) {
        guard pointer.hasPrefix("/"), pointer.utf8.count <= 1_000 else { return nil }
        let parts = String(pointer.dropFirst()).split(separator: "/", omittingEmptySubsequences: false).map {
            String($0)
        }
        steps = parts.map { part -> Step in
            if let number = Int(part), number >= 0, "\(number)" == part { return .item(number) }
            return .member(part.replacing("~1", with: "/").replacing("~0", with: "~"))
        }
    }

    /// The path with dots and brackets.
    package var description: String {
        steps.reduce("") { text, step in
            switch step {
            case .member(let name): text + (text.isEmpty ? "" : ".") + name.printable
            case .item(let number): text + "[\(number)]"
            }
        }
    }

    /// The path as a JSON Pointer (RFC 6901).
    var pointer: String {
        steps.reduce("") { text, step in
            switch step {
            case .member(let name): text + "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
            case .item(let number): text + "/\(number)"
            }
        }
    }

    static func + (path: PolicyPath, step: Step) -> PolicyPath { PolicyPath(path.steps + [step]) }
}

extension JSON {
    /// The value at a path; nil if there is none.
    subscript(path: ArraySlice<PolicyPath.Step>) -> JSON? {
        guard let step = path.first else { return self }
        switch (self, step) {
        case (.object(let members), .member(let name)):
            return members.first { $0.name == name }?.value[path.dropFirst()]
        case (.list(let items), .item(let number)):
            return items.indices.contains(number) ? items[number][path.dropFirst()] : nil
        default: return nil
        }
    }

    /// Returns the value with another value at a path, or without the value there if `value` is nil. The bare name of a
    /// plugin becomes an object with `use`. Returns nil if there is no such place.
    func setting(_ path: ArraySlice<PolicyPath.Step>, to value: JSON?) -> JSON? {
        guard let step = path.first else { return value }
        switch (self, step) {
        case (.string(let name), .member):
            return JSON.object([.init("use", .string(name))]).setting(path, to: value)
        case (.object(var members), .member(let name)):
            let place = members.firstIndex { $0.name == name }
            if path.count == 1, value == nil {
                members.removeAll { $0.name == name }
            } else if let place {
                guard let inner = members[place].value.setting(path.dropFirst(), to: value) else { return nil }
                members[place].value = inner
            } else {
                guard path.count == 1, let value else { return nil }
                members.append(.init(name, value))
            }
            return .object(members)
        case (.list(var items), .item(let number)):
            guard items.indices.contains(number), let inner = items[number].setting(path.dropFirst(), to: value) else {
                return nil
            }
            items[number] = inner
            return .list(items)
        default: return nil
        }
    }
}
