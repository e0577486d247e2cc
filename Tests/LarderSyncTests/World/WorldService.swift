import Larder
import LarderFoundation

@testable import LarderSync

/// A service that knows keys. It notes each change that it makes, in order.
struct WorldService: Sendable {
    /// A change as it arrives.
    struct Change: Sendable {
        var device: Int
        var kind: String
        var id: String?
        var key: String
        var version: String?
        /// The record of a create, or the fields of an update.
        var body: JSONText
    }

    /// A change that was made.
    struct Applied: Sendable {
        var change: Change
        var id: String
        /// The record before; nil if there was none.
        var former: JSONText?
    }

    struct Answer: Sendable {
        var status: Int
        var record: JSONText?
    }

    private struct Known {
        var content: String
        var answer: Answer
    }

    private(set) var records: [String: JSONText] = [:]
    private(set) var applied: [Applied] = []
    /// The times of the last changes of all records, also of deleted ones.
    private var times: [String: Int64] = [:]
    private var known: [String: Known] = [:]
    private var (named, clock, epoch) = (0, Int64(0), 1)
    /// The mistakes of clients.
    private(set) var mistakes: [String] = []

    var shown: [String] {
        records.sorted { $0.key < $1.key }.map { String(decoding: $0.value.canonical, as: UTF8.self) }
    }

    /// Makes the records that are there at first.
    mutating func fill(_ count: Int) {
        for number in 0..<count {
            clock += 1
            records["c\(number)"] = JSONText(object: [
                ("id", JSONText(string: "c\(number)")), ("title", JSONText(string: "first\(number)")),
                ("at", JSONText(.int(1_767_571_200_000))), ("v", JSONText(.int(Int(clock)))),
            ])
            times["c\(number)"] = clock
        }
    }

    /// Goes back to an earlier state, as after a restored backup. Time goes on.
    mutating func restore(_ earlier: WorldService) {
        let (clock, epoch, mistakes, named) = (clock, epoch, mistakes, named)
        self = earlier
        (self.clock, self.epoch, self.mistakes, self.named) = (clock + 1, epoch + 1, mistakes, named)
    }

    mutating func change(_ change: Change, _ rules: WorldRules) -> Answer {
        let text = change.body.shownText
        if "\(change.id ?? "") \(text)".contains(TemporaryMark.prefix) { mistakes.append("a temporary id: \(change)") }
        let content = "\(change.kind) \(change.id ?? "") \(text)"
        if let known = known[change.key] {
            if known.content != content { mistakes.append("another content: \(known.content), \(content)") }
            return known.answer
        }
        if change.body.members.contains(where: { $0.value.string?.hasPrefix("bad") == true }) {
            return Answer(status: 422)
        }
        let id = change.id ?? "s\(named + 1)"
        let former = records[id]
        if change.kind == "create" {
            if former != nil { return Answer(status: 409, record: former) }
            if change.id == nil { named += 1 }
        } else {
            guard former != nil else { return Answer(status: 404) }
            if let version = change.version, version != former?["v"]?.name {
                return Answer(status: 412, record: former)
            }
        }
        clock += 1
        times[id] = clock
        applied.append(Applied(change: change, id: id, former: former))
        switch change.kind {
        case "create": records[id] = change.body.setting([(["id"], JSONText(string: id)), version])
        case "update":
            let fields = change.body.members.map { ([$0.name], $0.value.kind == .null ? nil : $0.value) }
            records[id] = former?.setting(fields + [version])
        default: records[id] = nil
        }
        let isTold = rules.answersWithRecord || change.id == nil
        let answer = Answer(status: 200, record: isTold ? records[id] : nil)
        known[change.key] = Known(content: content, answer: answer)
        return answer
    }

    private var version: (path: [String], value: JSONText?) { (["v"], JSONText(.int(Int(clock)))) }

    /// Returns a page.
    func page(_ parameters: Parameters, _ rules: WorldRules) throws -> String {
        let limit = parameters["limit"].flatMap { Int($0) } ?? 1_000
        let first = parameters["cursor"] ?? parameters["token"] ?? parameters["since"]
        if rules.forgetsTokens, let token = parameters["token"].flatMap({ Int64($0) }), token < clock - 3 {
            throw LoadError.status(410)
        }
        var (page, deleted, next): ([JSONText], [String], String?) = ([], [], nil)
        var token = first ?? "0"
        if rules.pull == .all {
            let rest = records.keys.sorted().filter { $0 > first ?? "" }
            page = rest.prefix(limit).compactMap { records[$0] }
            next = rest.count > limit ? rest[limit - 1] : nil
        } else {
            // The marks within a full pull begin with a letter, and are never forgotten.
            let isFull = parameters["since"] == nil && first.map { $0.hasPrefix("f") } ?? true
            let since = first.flatMap { Int64($0.drop { $0 == "f" }) } ?? 0
            let rest = times.filter { $0.value > since && (first != nil || records[$0.key] != nil) }
                .sorted { $0.value < $1.value }
            for (id, time) in rest.prefix(limit) {
                if let record = records[id] { page.append(record) } else { deleted.append(id) }
                token = "\(time)"
            }
            if rest.count > limit {
                token = isFull ? "f\(token)" : token
                next = token
            }
        }
        let items = page.map(\.shownText).joined(separator: ",")
        let ids = deleted.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            { "notes": [\(items)], "deleted": [\(ids)], "next": \(next.map { "\"\($0)\"" } ?? "null"), "now": \(clock),
              "token": "\(token)", "more": \(next != nil), "epoch": "\(epoch)" }
            """
    }
}

enum TemporaryMark { static let prefix = "tmp-" }
