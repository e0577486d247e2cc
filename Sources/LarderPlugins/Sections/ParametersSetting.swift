import LarderCore

extension SettingType where Value == Parameters {
    /// The parameters of a request: an object of texts and whole numbers.
    static var parameters: SettingType<Parameters> {
        let expectation = "an object of parameters, such as { \"page\": \"1\" }, or {}"
        return SettingType(
            "parameters", expectation: expectation,
            schema: ["type": "object", "additionalProperties": ["type": ["string", "integer"]]], example: [:],
            show: { $0.isEmpty ? "{}" : "{ \($0.description) }" },
            read: { node, reading in
                guard let members = node.members else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                var parameters: [String: String] = [:]
                for member in members {
                    guard let value = text(of: member.value) else {
                        reading.inside(".\(member.name.prefix(64))") {
                            reading.reject(member.value, expected: "text or a whole number")
                        }
                        continue
                    }
                    parameters[member.name] = value
                }
                return parameters.count == members.count ? Parameters(parameters) : nil
            })
    }

    private static func text(of value: Node) -> String? {
        switch value.content {
        case .string(let text): text
        // The digits are those of the policy, because a Double cannot hold every whole number.
        case .number(_, let text): Int64(text).map { "\($0)" }
        default: nil
        }
    }
}
