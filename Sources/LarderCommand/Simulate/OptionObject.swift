package import Larder
import LarderStories
import LarderSystem
package import LarderSimulation

/// Reads the value of an option that is a JSON object, a file that holds one, or `name=value,name=value`.
package struct OptionObject {
    /// Reads the value of an option as `type` declares it.
    ///
    /// - Throws: ``PolicyError`` with every problem of the value.
    package static func read<Value>(_ text: String, as type: SettingType<Value>, option: String) throws -> Value {
        let (name, bytes) = try source(text, option)
        let reading = PartReader(registry: .standard, folder: ".", file: name)
        do {
            let root = try JSONParser.parse(SourceText(name: name, bytes: bytes))
            if let value = type.read(root, reading), reading.isSound { return value }
        } catch {
            throw PolicyError([Problem(error)])
        }
        throw PolicyError(reading.problems)
    }

    private static func source(_ text: String, _ option: String) throws -> (name: String, bytes: [UInt8]) {
        if text.hasPrefix("{") { return ("--\(option)", Array(text.utf8)) }
        if text.isEmpty { return ("--\(option)", Array("{}".utf8)) }
        if let members = members(text) {
            return ("--\(option)", Array(JSON.object(members).text(indented: false).utf8))
        }
        do {
            return (text, try Disk.read(text, limit: JSONParser.mostBytes))
        } catch {
            throw PolicyError([
                Problem(
                    "\(error)", file: text,
                    expected: "name=value,name=value, an object of JSON, or a file that holds one")
            ])
        }
    }

    /// The members of `a=1,b=2s,b=3s`. A name that is given several times makes a list.
    private static func members(_ text: String) -> [JSON.Member]? {
        var members: [JSON.Member] = []
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[0].isEmpty else { return nil }
            let (name, word) = (String(pair[0]), String(pair[1]))
            let value: JSON = Int(word).map { .int($0) } ?? Double(word).map { .number($0) } ?? .string(word)
            if let place = members.firstIndex(where: { $0.name == name }) {
                if case .list(let items) = members[place].value {
                    members[place].value = .list(items + [value])
                } else {
                    members[place].value = .list([members[place].value, value])
                }
            } else {
                members.append(JSON.Member(name, value))
            }
        }
        return members
    }
}

extension SettingType where Value == OriginModel {
    /// The behaviour of an origin.
    package static var originModel: SettingType<OriginModel> {
        .object(
            "an origin model",
            Setting("latency", .moment, default: .milliseconds(80), help: "Half of all calls take no longer"),
            Setting("slowest", .moment, default: .milliseconds(400), help: "Of 100 calls, 99 take no longer"),
            Setting("fails", .share, default: 0, help: "The share of calls that fail"),
            Setting("down", .oneOrMore(.window), default: [], help: "When every call fails: 10m-13m"),
            Setting("slow", .oneOrMore(.window), default: [], help: "When every call takes 'slowness' times as long"),
            Setting("slowness", .number(1...1_000_000), default: 25, help: "How many times as long"),
            Setting("silent", .oneOrMore(.window), default: [], help: "When no call is ever answered"),
            Setting("changes", .moment, default: .seconds(600), help: "How often contents change"),
            Setting("size", .size, default: 10_000, help: "How large a payload is"),
            Setting("type", .text, default: "application/json", help: "The payloads' media type")
        ) { node, reading, latency, slowest, fails, down, slow, slowness, silent, changes, size, type in
            if size > 100_000_000 {
                reading.report(
                    "a payload of more than 100 MB is too much to try", at: node["size"]?.position ?? node.position)
                return nil
            }
            var model = OriginModel()
            (model.latency, model.slowest, model.failures) = (latency, slowest, fails)
            (model.outages, model.slowdowns, model.silences) = (down, slow, silent)
            (model.slowness, model.changes) = (slowness, changes)
            (model.size, model.contentType) = (size, type)
            return model
        }
    }
}
