extension SettingType {
    /// An object with these keys and no others. Each key is declared once, like a setting of a plugin.
    ///
    /// - Parameters:
    ///   - noun: the name of the object in messages, such as `a scenario`.
    ///   - keys: the keys.
    ///   - sections: the kind of the plugins whose names are keys, too, and are read elsewhere; nil if there are none.
    ///   - make: makes the value from those of the keys, in the order of their declaration. It reports contradictions between
    ///     them, and returns nil then.
    public static func object<each Member>(
        _ noun: String, _ keys: repeat Setting<each Member>, sections: PluginKind? = nil,
        make: @escaping @Sendable (Node, PolicyDiagnostics, repeat each Member) -> Value?
    ) -> SettingType<Value> {
        var all: [SettingDeclaration] = []
        for key in repeat each keys { all += key.declarations }
        let declarations = all
        let own = declarations.map(\.name)
        return SettingType(
            noun, expectation: "\(noun): { … }",
            schema: schema(of: declarations), show: { _ in nil },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: "\(noun): { … }")
                    return nil
                }
                let known = own + (sections.map { reading.registry[$0].map(\.name) } ?? [])
                let outer = reading.misnamed
                defer { reading.misnamed = outer }
                reading.misnamed = Set(
                    members.filter { !known.contains($0.name) }.compactMap {
                        reading.reportUnknownMember($0, of: noun, declarations, sections: sections)
                    })
                let given = (repeat SettingValue(value: (each keys).read(node, noun, reading)))
                do { return make(node, reading, repeat try (each given).unwrapped()) } catch { return nil }
            })
    }

    private static func schema(of declarations: [SettingDeclaration]) -> JSON {
        let properties = declarations.map { declaration in
            var members = [JSON.Member("description", .string(declaration.help))]
            if case .object(let own) = declaration.schema { members += own }
            return JSON.Member(declaration.name, .object(members))
        }
        return [
            "type": "object", "properties": .object(properties),
            "required": .list(declarations.filter(\.isRequired).map { .string($0.name) }),
            "additionalProperties": false,
        ]
    }
}

extension SettingType {
    /// A value of another type, or a list of such values.
    package static func oneOrMore<Element>(_ element: SettingType<Element>) -> SettingType<[Element]>
    where Value == [Element] {
        let list = SettingType.list(of: element, atLeast: 1)
        return SettingType(
            "\(element.name), or a list", expectation: "\(element.expectation), or a list of them",
            schema: ["anyOf": [element.schema, list.schema]], show: list.show,
            read: { node, reading in
                if case .list = node.content { return list.read(node, reading) }
                return element.read(node, reading).map { [$0] }
            }
        ).shown(element.isShownInDumps)
    }
}
