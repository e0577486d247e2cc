package import Larder

extension Setting where Value == Parameters {
    static func parameters(_ help: String) -> Setting {
        Setting("parameters", .parameters, default: [:], help: help)
    }
}

extension Setting where Value == String? {
    static func scope(_ help: String) -> Setting {
        Setting("scope", optional: .text, help: help)
    }
}

extension SettingType where Value == Duration {
    /// A duration of up to ten years, the longest time of a scenario.
    package static var moment: SettingType<Duration> { .duration(.zero ... .seconds(3_650 * 86_400)) }
}

extension SettingType where Value == Parameters {
    static var parameters: SettingType<Parameters> {
        SettingType(
            "parameters", expectation: "parameters such as { \"id\": \"42\" }",
            schema: ["type": "object", "additionalProperties": ["type": "string"]], show: { _ in "{}" },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: "parameters such as { \"id\": \"42\" }")
                    return nil
                }
                var parameters: Parameters = [:]
                for member in members {
                    if let text = member.value.string {
                        parameters[member.name] = text
                    } else {
                        reading.inside(".\(member.name)") { reading.reject(member.value, expected: "text") }
                    }
                }
                return parameters.count == members.count ? parameters : nil
            })
    }
}

extension SettingType where Value == Int {
    /// A status that is a failure of the origin.
    static var failure: SettingType<Int> { status("a status that is a failure: 408, 425, 429 or 500 to 599", false) }

    /// A status that is an answer of the origin, which no copy replaces.
    static var answer: SettingType<Int> {
        status("a status that is an answer: 400 to 499, but not 408, 425, 429", true)
    }

    private static func status(_ expectation: String, _ isAnswer: Bool) -> SettingType<Int> {
        let any = SettingType.int(400...599)
        return SettingType(
            "status", expectation: expectation, schema: any.schema, show: { "\($0)" },
            read: { node, reading in
                guard let status = any.read(node, reading) else { return nil }
                if LoadError.status(status).isAnswer == isAnswer { return status }
                let other = isAnswer ? "a failure, which 'fails' is for" : "an answer, which 'answers' is for"
                reading.report("\(status) is \(other)", at: node.position, expected: expectation)
                return nil
            })
    }
}

extension SettingType where Value == String {
    /// The code of an error of a load.
    static var code: SettingType<String> {
        .choice(LoadError.Code.allCases.filter { $0 != .noSuchResource }.map(\.rawValue))
    }

    /// The source of a value.
    static var source: SettingType<String> {
        @Sendable func known(_ registry: Registry) -> [String] {
            ["origin", "revalidated", "copy"] + registry[.store].map(\.name) + ["fallback"]
                + registry[.origin].map { "fallback \($0.name)" }
        }
        return SettingType(
            "source",
            expectation: "\"origin\", \"revalidated\", \"copy\", a store such as \"memory\", or \"fallback\"",
            schema: ["type": "string"], show: { $0 },
            read: { node, reading in SettingType.choice(known(reading.registry)).read(node, reading) })
    }
}

extension SettingType where Value == Expectation.Age {
    static var age: SettingType<Expectation.Age> {
        let duration = SettingType<Duration>.moment
        let expectation = "\(duration.expectation), or \"unknown\""
        return SettingType(
            "age", expectation: expectation, schema: ["type": "string"], show: { _ in nil },
            read: { node, reading in
                if node.string == "unknown" { return .unknown }
                guard let least = duration.read(node, reading), let text = node.string else { return nil }
                // One more of its unit is the first age that is too old.
                let digits = text.prefix { $0.isNumber }
                let unit = Duration(spelled: "1\(text.dropFirst(digits.count))") ?? .zero
                return .about(least..<least + unit, text: text)
            })
    }
}

extension Scenario {
    /// Reports contradictions between its parts.
    func check(_ node: Node, _ reading: PolicyDiagnostics) {
        func report(_ message: String, at index: Int, of key: String, expected: String? = nil) {
            var place = node[key] ?? node
            if case .list(let elements) = place.content { place = elements[index] }
            reading.inside(".\(key)[\(index)]") { reading.report(message, at: place.position, expected: expected) }
        }
        for (index, (one, next)) in zip(story.origin, story.origin.dropFirst()).enumerated()
        where next.from < one.from || next.from == one.from && one.calls == nil {
            report(
                "this phase begins no later than the one before it", at: index + 1, of: "origin",
                expected: "phases in the order of their 'from'")
        }
        for (index, (one, next)) in zip(story.loads, story.loads.dropFirst()).enumerated() where next.at < one.at {
            report(
                "this is asked before the request above it", at: index + 1, of: "asks",
                expected: "requests in the order of their 'at'")
        }
        for (index, (one, next)) in zip(story.networks, story.networks.dropFirst()).enumerated()
        where next.from <= one.from {
            report(
                "this state begins no later than the one before it", at: index + 1, of: "network",
                expected: "states in the order of their 'from'")
        }
        var keys: [Key: Set<Int>] = [:]
        for (index, copy) in story.copies.enumerated() {
            let key = Key(resource: "", scope: copy.scope, parameters: copy.parameters)
            let tiers = keys[key, default: []]
            keys[key] = tiers.union([copy.tier ?? 0])
            if tiers.isEmpty || !tiers.contains(0) && copy.tier.map({ !tiers.contains($0) }) == true { continue }
            report("there is a copy of this instance already", at: index, of: "cached")
        }
        if expectations.allSatisfy({ $0 == nil }), let position = node["asks"]?.position {
            reading.inside(".asks") { reading.report("nothing is expected", at: position, expected: "an 'expect'") }
        }
    }
}

extension Expectation {
    /// Reports contradictions between its keys.
    func check(_ reading: PolicyDiagnostics) {
        let members = node?.members ?? []
        if members.isEmpty, let node {
            reading.report("nothing is expected", at: node.position, expected: "a key of an expectation")
        }
        guard let error = members.first(where: { $0.name == "error" || $0.name == "status" }) else { return }
        let ofValues = ["value", "freshness", "source", "age", "fellBack", "noOlderThan", "freshWithin"]
        for member in members where ofValues.contains(member.name) {
            reading.inside(".\(member.name)") {
                reading.report("where '\(error.name)' is expected, there is no '\(member.name)'", at: member.position)
            }
        }
    }
}
