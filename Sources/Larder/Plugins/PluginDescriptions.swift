// How the values of a policy are printed and dumped. What came from the environment is shown as it is written, `${NAME}`,
// also where a program prints a value only to see what is in it; mirrors show nothing else.

extension Node: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value as it is written, `${NAME}` and all, as JSON on one line.
    public var description: String { shown.text(indented: false) }

    /// The value as it is written, and its place.
    public var debugDescription: String { "\(description) (\(place))" }

    /// The value as it is written, and its place.
    public var customMirror: Mirror {
        Mirror(self, children: ["shown": description, "place": place], displayStyle: .struct)
    }
}

extension Node.Content: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of value, and of lists and objects what is in them. A string is not shown: it does not know whether it came
    /// from the environment. ``Node`` does.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(_, let text): text
        case .string: "a string"
        case .list(let items): "[\(items.map(\.description).joined(separator: ","))]"
        case .object(let members): "{\(members.map(\.description).joined(separator: ","))}"
        }
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The description alone.
    public var customMirror: Mirror {
        Mirror(self, children: ["shown": description], displayStyle: .enum)
    }
}

extension Node.Member: CustomStringConvertible, CustomDebugStringConvertible {
    /// Name and value as they are written.
    public var description: String { "\(JSON.string(name).text()):\(value)" }

    /// The same as the description.
    public var debugDescription: String { description }
}

extension SourceText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its name.
    public var description: String { name }

    /// Its name, and how long it is.
    public var debugDescription: String { "\(name) (\(bytes.count) bytes)" }

    /// Its name, and how long it is.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "count": bytes.count]) }
}

extension Place: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// File, line and column: `Policies/feed.json:3:12`.
    public var description: String { "\(source.name):\(line):\(column)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// File, line and column.
    public var customMirror: Mirror {
        Mirror(self, children: ["file": source.name, "line": line, "column": column], displayStyle: .struct)
    }
}

extension Part: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of plugin, and what the policy says: `wrapper {"use":"timeout","after":"${SPAN}"}`.
    public var description: String { "\(plugin.kind) \(reference)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The kind and name of its plugin, the settings in effect, and the parts among them.
    public var customMirror: Mirror {
        Mirror(self, children: ["reference": reference, "settings": settings, "nested": nested])
    }
}

extension EffectiveSetting: CustomStringConvertible, CustomDebugStringConvertible {
    /// Name and value, and where it stands: `after "5s" (Policies/feed.json:5:43)`.
    public var description: String { "\(name) \(value) (\(place?.description ?? "default"))" }

    /// The same as the description.
    public var debugDescription: String { description }
}

extension Traits: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The traits that a plugin told of itself. Of a part with settings from the environment, only which traits those are.
    public var description: String {
        told.map { mayBeShown ? "\($0.name): \($0.value)" : $0.name }.joined(separator: ", ")
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The traits, as in the description.
    public var customMirror: Mirror {
        Mirror(
            self, children: told.map { (label: $0.name, value: mayBeShown ? $0.value : "told") }, displayStyle: .struct)
    }

    private var told: [(name: String, value: String)] {
        let values: [(String, String?)] = [
            ("givesUpAfter", givesUpAfter?.spelled), ("tries", tries.map { "\($0.count) over \($0.waits.spelled)" }),
            ("cannotFail", cannotFail ? "true" : nil), ("isLocal", isLocal ? "true" : nil),
            ("showsStaleFor", showsStaleFor?.spelled), ("showsFor", showsFor?.spelled),
            ("noticesDamage", noticesDamage ? "true" : nil), ("capacity", capacity.map { "\($0) B" }),
            ("keepsFor", keepsFor?.spelled), ("keepsNothing", keepsNothing ? "true" : nil),
            ("isForeign", isForeign ? "true" : nil), ("writesTo", writesTo), ("patience", patience?.spelled),
            ("rest", rest?.spelled),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension Plugin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Kind and name: `strategy 'network-first'`.
    public var description: String { "\(kind) '\(name)'" }

    /// Kind, name and what it does.
    public var debugDescription: String { "\(description): \(about)" }

    /// Its declaration.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["kind": kind.rawValue, "name": name, "about": about, "settings": names])
    }
}

extension Registry: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the plugins by their kinds: `origin: file, constant; wrapper: timeout`.
    public var description: String {
        PluginKind.allCases.filter { !self[$0].isEmpty }
            .map { "\($0): " + self[$0].map(\.name).joined(separator: ", ") }.joined(separator: "; ")
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The names of the plugins by their kinds.
    public var customMirror: Mirror {
        Mirror(
            self, children: PluginKind.allCases.map { (label: $0.rawValue, value: self[$0].map(\.name)) },
            displayStyle: .struct)
    }
}

extension Context: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The resource it is the place of.
    public var description: String { "the place of a plugin in '\(resource)'" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The resource.
    public var customMirror: Mirror { Mirror(self, children: ["resource": resource], displayStyle: .struct) }
}

extension Reading: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The file that is read, and the problems so far.
    public var description: String { "reading \(file), problems so far: \(problems.count)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// The file, and what was found wrong with it so far.
    public var customMirror: Mirror { Mirror(self, children: ["file": file, "problems": problems]) }
}
