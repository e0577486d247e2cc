import LarderFoundation
import Testing

@testable import ConformRun

/// Files of rows for `ConformRun`.
enum ConformRows {
    static let fixture = projectFolder.appending(path: "Tests/LarderCommandTests/Fixtures/strategies.json").path

    /// A row that passes: an expired copy is replaced by a new answer.
    static let row = """
        { "id": "A-1", "level": "must", "family": "cache-first", "title": "expired",
          "strategy": { "kind": "cache-first", "ttl_ms": 1000 },
          "stores": [{ "name": "memory" }],
          "entries": [{ "store": "memory", "key": "k", "value": "old", "age_ms": 1500, "ttl_ms": 1000 }],
          "origin": [{ "delay_ms": 20, "status": 200, "value": "new" }],
          "steps": [{ "at_ms": 0, "op": "get", "key": "k", "expect": { "value": "new", "freshness": "fresh", "from": "origin", "done_at_ms": 20, "origin_calls": 1 } }],
          "end": { "at_ms": 100, "origin_calls": 1, "body_writes": 1, "stored": { "memory": { "k": "new" } } } }
        """

    /// Returns a file of these rows.
    static func file(_ rows: String...) -> String {
        #"{ "format": "strategy-scenarios/1", "scenarios": ["# + rows.joined(separator: ",\n") + "] }"
    }

    /// Runs `ConformRun` with a file and returns its output.
    static func play(_ text: String, _ options: String...) async throws -> Output {
        try await play(Data(text.utf8), options)
    }

    static func play(_ bytes: Data, _ options: [String] = []) async throws -> Output {
        let folder = try Folder()
        let file = folder.url.appending(path: "rows.json")
        try bytes.write(to: file)
        var output = await Output(.conform, [file.path] + options)
        output.err = output.err.replacing(file.path, with: "rows.json")
        return output
    }

    /// Returns the row with texts replaced. Each text must occur in the row.
    static func row(_ edits: [(String, String)]) -> String {
        edits.reduce(row) { row, edit in
            #expect(row.contains(edit.0), "\(edit.0)")
            return row.replacing(edit.0, with: edit.1, maxReplacements: 1)
        }
    }
}

/// A variation of the row that passes, and the output for it.
struct EditedRow: Sendable, CustomTestStringConvertible {
    var edits: [(String, String)]
    var verdict: String

    init(_ verdict: String, _ edits: (String, String)...) {
        self.verdict = verdict
        self.edits = edits
    }

    var testDescription: String { edits.map { "\($0.0) → \($0.1)" }.joined(separator: ", ") }
}
