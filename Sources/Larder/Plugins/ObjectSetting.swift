extension SettingType {
    /// An object with these keys and no others, each declared once like the setting of a plugin. `noun` is what messages
    /// call it: `a scenario`.
    ///
    /// `make` gets what was read, in the order in which it is declared, and reports what is wrong between keys.
    package static func object<each Part>(
        _ noun: String, _ keys: repeat Setting<each Part>,
        make: @escaping @Sendable (Node, Reading, repeat each Part) -> Value?
    ) -> SettingType<Value> {
        var declarations: [SettingDeclaration] = []
        for key in repeat each keys { declarations.append(key.declaration) }
        let known = declarations.map(\.name)
        return SettingType(
            noun, expectation: "\(noun): { … }",
            schema: schema(of: declarations), show: { _ in nil },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: "\(noun): { … }")
                    return nil
                }
                for member in members where !known.contains(member.name) {
                    reading.report(
                        "unknown key '\(member.name.prefix(64))' of \(noun)", at: member.place,
                        expected: "one of " + known.map { "'\($0)'" }.joined(separator: ", "),
                        suggestion: nearest(to: member.name, among: known))
                }
                let given = (repeat Given(value: (each keys).read(from: node, owner: noun, reading)))
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
    /// One value of another type, or a list of them.
    package static func oneOrMore<Element>(_ element: SettingType<Element>) -> SettingType<[Element]>
    where Value == [Element] {
        let list = SettingType.list(of: element, atLeast: 1)
        return SettingType(
            "\(element.name), or a list", expectation: "\(element.expectation), or a list of them",
            schema: ["anyOf": [element.schema, list.schema]], show: list.show,
            read: { node, reading in
                if case .list = node.content { return list.read(node, reading) }
                return element.read(node, reading).map { [$0] }
            })
    }
}
