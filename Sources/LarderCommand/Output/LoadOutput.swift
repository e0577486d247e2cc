import LarderSystem
import LarderFoundation
import Larder
import LarderReports
import LarderStories

/// Writes the results of loads, as payloads or as JSON.
struct LoadOutput: Sendable {
    /// The format of a result.
    enum Format: Sendable {
        /// The payload on the output, everything else on the error output.
        case payload
        /// One JSON document for the only load.
        case document
        /// A line of JSON for each of several loads.
        case lines
    }

    let resource: String
    let format: Format
    let showsTrail: Bool
    let terminal: Terminal

    /// Writes where a value came from, and its trail if wanted. With JSON, writes the value too.
    func write(_ loaded: Loaded<Data>) {
        guard format == .payload else { return write(json(loaded)) }
        if showsTrail {
            for line in loaded.trail.lines + [loaded.decision, loaded.cacheStatus] { terminal.note("  " + line) }
        }
        let age = loaded.age.map { ", \($0.brief) old" } ?? ", of unknown age"
        let kept = loaded.isStored ? "stored" : "not stored"
        let revision = loaded.trail.revision.map { " (revision \($0))" } ?? ""
        terminal.note("\(loaded.freshness.rawValue) from \(loaded.source)\(age), \(kept)\(revision)")
    }

    /// Writes why a load failed.
    func write(_ error: any Error) {
        let failure = error as? LoadError
        let message = failure?.description ?? "\(error)"
        let store = failure?.store.map { StoreFault(tier: "store", error: $0) }
        guard format == .payload else {
            return write([
                "resource": .string(resource), "error": .string(failure.map { "\($0.code)" } ?? "failed"),
                "status": failure?.status.map(JSON.int) ?? .null, "message": .string(message),
                "store": store.map { .string("\($0)") } ?? .null, "trail": trail(failure?.trail),
            ])
        }
        if showsTrail { for line in failure?.trail.lines ?? [] { terminal.note("  " + line) } }
        terminal.complain("\(resource): \(message)")
        if let store { terminal.complain("\(resource): its store: \(store)") }
    }

    private func write(_ json: JSON) { terminal.print(json.text(indented: format == .document)) }

    private func json(_ loaded: Loaded<Data>) -> JSON {
        // Bytes that are no text would not survive as a string.
        let isText = String(validating: loaded.value, as: UTF8.self) != nil
        return .present([
            "resource": .string(resource), "value": isText ? JSON(payload: loaded.value) : nil,
            "base64": isText ? nil : .string(loaded.value.base64EncodedString()),
            "freshness": .string(loaded.freshness.rawValue), "source": .string("\(loaded.source)"),
            "age_ms": loaded.age.milliseconds, "fellBack": .bool(loaded.fellBack), "stored": .bool(loaded.isStored),
            "cacheStatus": .string(loaded.cacheStatus),
            "revision": loaded.trail.revision.map(JSON.string) ?? .null, "trail": trail(loaded.trail),
        ])
    }

    private func trail(_ trail: Trail?) -> JSON { .list((trail?.lines ?? []).map(JSON.string)) }
}

extension Loaded {
    /// The status of the answer, the end of its freshness, and what decided that.
    fileprivate var decision: String {
        var parts: [String] = []
        if let status = metadata?.status { parts.append("status \(status)") }
        if case .fallback = source {
            parts.append("never fresh")
        } else if let metadata, let lifetime = permissions.freshFor {
            let start = (metadata.validatedAt ?? metadata.fetchedAt) - metadata.initialAge
            let end = lifetime >= .forever ? "for ever" : "until \((start + lifetime).spelledToSecond)"
            parts.append("fresh \(end)")
        } else {
            parts.append("not fresh")
        }
        if let reason = metadata?[.freshness] { parts.append(reason) }
        return parts.joined(separator: ", ")
    }
}
