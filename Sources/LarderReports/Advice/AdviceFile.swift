package import Larder
import LarderSystem

/// Advice in a file, as `larder advise --json` writes it and `larder simulate --advice` reads it.
package struct AdviceFile: Sendable {
    private static let format = "larder-advice/1"
    private static let most = 100

    /// One piece of advice, as far as a simulation needs it.
    package struct Item: Sendable {
        package var resource: String
        package var changes: [Advice.Change]
        package var effect: Advice.Effect
        /// The share of the figure that is to be saved.
        package var share: ClosedRange<Double>
    }

    /// The advice as JSON.
    ///
    /// - Parameter patch: returns the patch of a policy that carries out a piece of advice; nil if there is no such policy.
    package static func json(_ judged: [JudgedAdvice], patch: (Advice) -> JSON?) -> JSON {
        [
            "format": .string(format),
            "advice": .list(
                judged.filter { $0.objection == nil }.map { $0.advice.json(patch: patch($0.advice), gaps: $0.gaps) }),
            "notProposed": .list(
                judged.compactMap { judged in
                    judged.objection.map {
                        [
                            "resource": .string(judged.advice.resource), "topic": .string(judged.advice.topic.rawValue),
                            "text": .string(judged.advice.sentence), "reason": .string($0),
                        ]
                    }
                }),
        ]
    }

    /// Reads the advice in a file.
    ///
    /// - Throws: ``PolicyError`` if the file cannot be read or is not advice.
    package static func read(_ path: String) throws(PolicyError) -> [Item] {
        func problem(_ message: String) -> PolicyError {
            PolicyError([Problem(message, file: path, expected: "a file that 'larder advise --json' has written")])
        }
        let root: Node
        do {
            root = try JSONParser.parse(SourceText(name: path, bytes: try Disk.read(path, limit: JSONParser.mostBytes)))
        } catch let error as JSONError {
            throw PolicyError([Problem(error)])
        } catch {
            throw problem("\(error)")
        }
        guard root["format"]?.string == format, case .list(let nodes)? = root["advice"]?.content,
            nodes.count <= most
        else { throw problem("this is not advice") }
        let items = nodes.compactMap(Item.init(reading:))
        guard items.count == nodes.count else { throw problem("a piece of advice cannot be understood") }
        return items
    }
}

extension Advice {
    /// The advice as JSON.
    ///
    /// - Parameters:
    ///   - patch: the patch of a policy that carries it out, if there is one.
    ///   - gaps: the reasons why it is not completely proved that the policy keeps its promises.
    func json(patch: JSON? = nil, gaps: [String] = []) -> JSON {
        .present([
            "resource": .string(resource), "revision": .string(revision), "topic": .string(topic.rawValue),
            "text": .string(sentence), "effect": .string(effect.rawValue), "figure": .number(figure),
            "saved": [.number(saved.lowerBound), .number(saved.upperBound)], "changes": .list(changes.map(\.json)),
            "patch": patch, "notProved": gaps.isEmpty ? nil : .list(gaps.map(JSON.string)),
        ])
    }
}

extension AdviceFile.Item {
    fileprivate init?(reading node: Node) {
        guard let resource = node["resource"]?.string, case .list(let changes)? = node["changes"]?.content,
            let effect = node["effect"]?.string.flatMap({ Advice.Effect(rawValue: $0) }),
            let figure = node["figure"]?.amount, figure >= 1, case .list(let saved)? = node["saved"]?.content,
            saved.count == 2, let low = saved[0].amount, let high = saved[1].amount, low <= high
        else { return nil }
        self.init(
            resource: resource, changes: changes.compactMap(Advice.Change.init(reading:)), effect: effect,
            share: min(low / figure, 1)...min(high / figure, 1))
        if self.changes.isEmpty || self.changes.count != changes.count { return nil }
    }
}

extension Advice.Change {
    /// The change as JSON. A setting that is removed has no `to`.
    fileprivate var json: JSON {
        .present([
            "path": .string(path.pointer), "plugin": .string(plugin), "from": old ?? .null, "to": new,
        ])
    }

    fileprivate init?(reading node: Node) {
        guard let path = node["path"]?.string.flatMap({ PolicyPath(pointer: $0) }) else { return nil }
        self.init(
            path: path, plugin: node["plugin"]?.string ?? "", old: node["from"]?.json, new: node["to"]?.json)
    }
}

extension Node {
    /// The number; nil if this is none, or is infinite.
    fileprivate var amount: Double? {
        if case .number(let number, _) = content, number.isFinite, number >= 0 { number } else { nil }
    }
}
