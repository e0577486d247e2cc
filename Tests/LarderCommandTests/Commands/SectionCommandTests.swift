import LarderFoundation
import Larder
import Testing

/// Sections and kinds of modules in the commands.
@Suite struct SectionCommandTests {
    private struct Silent: LarderCore.Attachment {}

    private static let section = Plugin.section(
        "visits", "Counts visits.", Setting("most", .int(1...9), default: 3, help: "How many are counted"),
        counters: [Counter("visits", "Visits of people")]
    ) { _, _ in Silent() }

    private static let shared = Plugin.pantrySection(
        "quota", "Limits the calls.", Setting("calls", .int(1...9), help: "How many there may be")
    ) { _, _ in Silent() }

    private static let signer = Plugin.custom(PluginKind("signer"), "stamp", "Signs with a stamp.") { _ in 1 }

    private static let registry = Result {
        var registry = Registry.standard
        for plugin in [section, shared, signer] { try registry.register(plugin) }
        return registry
    }

    private static func run(_ arguments: [String], _ members: String, process: String = "{}") async throws -> Output {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "network-only"\#(members) }"#,
            to: "feed.json")
        try folder.write(process, to: "_larder.json")
        return await Output(arguments + ["--policies", folder.path], registry: try registry.get())
    }

    @Test func sectionsAndKindsOfModulesAreListed() async throws {
        let registry = try Self.registry.get()
        let list = await Output(["plugins"], registry: registry).out
        #expect(
            list.split(separator: "\n").suffix(11).map { $0.split(separator: " ", maxSplits: 1)[0] } == [
                "section", "expensive", "prefetch", "promises", "refresh", "visits", "pantry-section", "otlp", "quota",
                "signer", "stamp",
            ], "\(list)")
        let signers = await Output(["plugins", "signer"], registry: registry)
        #expect(signers.out == "signer\n  stamp  Signs with a stamp.\n")
        let details = await Output(["plugins", "section", "visits"], registry: registry).out
        #expect(
            details == """
                section 'visits': Counts visits.
                  most: a whole number from 1 to 9 (default 3)
                      How many are counted
                  counts visits: Visits of people

                """)
        let unknown = await Output(["plugins", "signers"], registry: registry).err
        #expect(unknown.hasPrefix("larder: unknown kind of plugin 'signers'; there are: origin, wrapper, "))
        #expect(unknown.contains("section, pantry-section, signer\n"))
    }

    @Test func referenceHasSectionsAmongKeysAndPlugins() async throws {
        let page = await Output(["plugins", "--format", "markdown"], registry: try Self.registry.get()).out
        #expect(page.contains("\n| `visits` | an object with the settings of the section | Counts visits. |\n"))
        #expect(
            page.contains(
                """

                ### visits

                Counts visits.

                | setting | value | default | meaning |
                |---|---|---|---|
                | `most` | a whole number from 1 to 9 | `3` | How many are counted |

                | metric | meaning |
                |---|---|
                | `visits` | Visits of people |

                ## Kind: pantry-section

                A section of the pantry is a key of `_larder.json` with an object of settings, without `use`.

                ### otlp
                """))
        #expect(
            page.contains(
                """

                ## Kind: section

                A section is a key of a policy with an object of settings, without `use`.

                ### expensive
                """))
        #expect(page.contains("\n### quota\n"))
        #expect(!(await Output(["plugins", "--format", "markdown"]).out.contains("### visits")))
    }

    @Test func explainListsSettingsOfSectionsWithTheirSource() async throws {
        let output = try await Self.run(["explain", "feed"], #", "visits": {}"#)
        #expect(output.out.contains("\n└─ section: visits\n"), "\(output.out)")
        #expect(output.out.contains("visits    most   3  default\n"), "\(output.out)")
        let written = try await Self.run(["explain", "feed"], #", "visits": { "most": 9 }"#).out
        #expect(written.hasSuffix("\n\nvisits\n  most 9  How many are counted\n"), "\(written)")
        let json = try Facts(try await Self.run(["explain", "feed", "--json"], #", "visits": { "most": 9 }"#).out)
        let node = try #require(json["children"].items.last)
        #expect(node["role"].string == "section" && node["name"].string == "visits")
        #expect(node["settings"].items[0]["value"].int == 9)
    }

    @Test func checkReportsMistakesInBothKindsOfSections() async throws {
        let sound = try await Self.run(["check"], #", "visits": {}"#, process: #"{ "quota": { "calls": 1 } }"#)
        #expect(sound.code == 0, "\(sound.out)")
        let output = try await Self.run(["check"], #", "visits": { "more": 1 }"#, process: #"{ "quota": 1 }"#)
        #expect(output.code == 1)
        #expect(output.out.contains("feed.json:1:108: error: unknown setting 'more' for section 'visits'"))
        #expect(
            output.out.contains(
                "_larder.json:1:12: error: the number 1 is not allowed here; expected an object with the settings of "
                    + "pantry-section 'quota', or {} [at $.quota]"), "\(output.out)")
    }

    @Test func sectionOfAnotherProgramCanBeAssumed() async throws {
        let absent = try await Self.run(["check"], #", "outbox": { "any": 1 }"#)
        #expect(absent.code == 1)
        #expect(absent.out.contains("unknown key 'outbox'"))
        #expect(absent.err.contains("--assume section:outbox"), "\(absent.err)")
        let assumed = try await Self.run(["check", "--assume", "section:outbox"], #", "outbox": { "any": 1 }"#)
        #expect(assumed.code == 0 && assumed.err.contains("assumed: section 'outbox'"), "\(assumed.out)\(assumed.err)")
        let explained = try await Self.run(
            ["explain", "feed", "--assume", "section:outbox"], #", "outbox": { "any": 1 }"#)
        #expect(explained.out.contains("\n└─ section: outbox  (any 1)\n"))
    }
}
