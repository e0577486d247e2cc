import FoundationEssentials
import Larder
import Testing

/// A broken policy and what `larder check` says about it: one file of `Corpus/`.
///
/// A file holds the text of `feed.json`; then, each under a line `=== NAME`, the files that it extends, and the
/// variables under `=== environment`; then a line `---` and the lines that are expected, in which `{every strategy}`
/// stands for the names of all standard strategies.
struct BrokenPolicy: Sendable, CustomTestStringConvertible {
    var name: String
    var files: [String: String]
    var environment: [String: String] = [:]
    var expected: [String]
    var testDescription: String { name }

    var hasErrors: Bool { expected.contains { $0.contains(": error: ") } }

    static let all: [BrokenPolicy] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            // As a text from a file it would lose its byte order mark.
            (try? Data(contentsOf: folder.appending(path: name)))
                .map { BrokenPolicy(named: String(name.dropLast(4)), String(decoding: $0, as: UTF8.self)) }
        }
    }()

    private init(named name: String, _ text: String) {
        self.name = name
        // Not by characters: a line break may be part of a larger one.
        let halves = Self.parts(of: text, at: "\n---\n")
        expected = Self.parts(of: halves.count > 1 ? halves[1] : "", at: "\n").filter { !$0.isEmpty }
        for kind in PluginKind.allCases {
            let names = Registry.standard[kind].map { "'\($0.name)'" }.joined(separator: ", ")
            expected = expected.map { $0.replacing("{every \(kind)}", with: names) }
        }
        let sections = Self.parts(of: halves[0], at: "\n=== ")
        files = ["feed.json": sections[0]]
        for section in sections.dropFirst() {
            let lines = Self.parts(of: section, at: "\n")
            if lines[0] == "environment" {
                for line in lines.dropFirst() {
                    let pair = Self.parts(of: line, at: "=")
                    environment[pair[0]] = pair.dropFirst().joined(separator: "=")
                }
            } else {
                files[lines[0]] = lines.dropFirst().joined(separator: "\n")
            }
        }
    }

    private static func parts(of text: String, at separator: String) -> [String] {
        var parts: [String] = []
        var rest = text.unicodeScalars[...]
        while let end = rest.firstRange(of: separator.unicodeScalars) {
            parts.append(String(rest[..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return parts + [String(rest)]
    }

    /// A folder with its files.
    func folder() throws -> Folder {
        let folder = try Folder()
        for (name, text) in files { try folder.write(text, to: name) }
        return folder
    }
}
