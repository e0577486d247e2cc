import LarderFoundation
import Larder
import Testing

/// A broken policy and the output of `larder check` for it: one file of `Corpus/`.
///
/// A file contains the text of `feed.json`. Then follow the files that it extends, each under a line `=== NAME`, and
/// the variables under `=== environment`. After a line `---` follow the expected lines, in which `{every strategy}` is
/// replaced by the names of all standard strategies.
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
            // Reading the file as text would remove its byte order mark.
            (try? Data(contentsOf: folder.appending(path: name)))
                .map { BrokenPolicy(named: String(name.dropLast(4)), String(decoding: $0, as: UTF8.self)) }
        }
    }()

    private init(named name: String, _ text: String) {
        self.name = name
        // The text is not split by characters, because a line break can be part of a larger character.
        let halves = Self.parts(of: text, at: "\n---\n")
        expected = Self.parts(of: halves.count > 1 ? halves[1] : "", at: "\n").filter { !$0.isEmpty }
        for kind in Registry.standard.kinds {
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

    /// Returns a folder with the files of this case.
    func folder() throws -> Folder {
        let folder = try Folder()
        for (name, text) in files { try folder.write(text, to: name) }
        return folder
    }
}
