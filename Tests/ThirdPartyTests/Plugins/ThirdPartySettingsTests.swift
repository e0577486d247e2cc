import LarderFoundation
import Larder
import LarderSimulation
import Testing

/// Settings of a third party's plugin that are read by name.
@Suite struct ThirdPartySettingsTests {
    private struct Limits {
        let least = Setting("least", .int(0...9), default: 0, help: "The fewest words")
        let most = Setting("most", optional: .int(0...9), help: "The most words")
    }

    private struct PoemSettings {
        let title = Setting("title", .text, help: "Its title").identifiesData()
        let lines = Setting("lines", .list(of: .text, atLeast: 1), help: "Its lines")
        let limits = Setting.group(Limits())
        let isSlow = Setting("slow", .flag, default: false, help: "Whether it is read slowly")
        /// No setting, so it is not declared.
        let ending = "."
    }

    private struct Poem: Loader {
        let text: String

        func load(_ call: Call) -> Loaded<Entry> { Loaded(Entry(Data(text.utf8))) }
    }

    private static let poem = Plugin.origin(
        "poem", "Recites a poem.", .group(PoemSettings()), Setting("author", optional: .text, help: "Who wrote it"),
        traits: { settings, _ in
            .with {
                $0.cannotFail = !settings.isSlow
                if let most = settings.limits.most, most < settings.limits.least {
                    $0.contradictions = [Contradiction("most", "it is smaller than 'least'")]
                }
            }
        }
    ) { _, settings, author in
        let (title, limits) = (settings.title, settings.limits)
        let most = limits.most.map { "\($0)" } ?? "any"
        let lines = settings.lines.joined(separator: "/")
        return Poem(
            text: "\(title) by \(author ?? "nobody"): \(lines) \(limits.least) \(most) \(settings.isSlow) \(settings)")
    }

    private static func run(
        _ settings: String, _ test: @escaping @Sendable (SimulatedPantry) async throws -> Void
    ) throws {
        let origin = #"{ "use": "poem", \#(settings) }"#
        try SimulatedPantry.run(
            ["feed": #"{ "resource": "feed", "origin": \#(origin), "strategy": "network-only" }"#], plugins: [poem],
            test)
    }

    @Test func valuesAreReadByName() throws {
        try Self.run(#""title": "Rain", "lines": ["a", "b"], "most": 4, "author": "Ada", "slow": true"#) { simulated in
            let text = String(decoding: try await simulated.resource.load().value, as: UTF8.self)
            #expect(text == "Rain by Ada: a/b 0 4 true SettingValues<PoemSettings>()")
        }
        try Self.run(#""title": "Rain", "lines": ["a"]"#) { simulated in
            let text = String(decoding: try await simulated.resource.load().value, as: UTF8.self)
            #expect(text == "Rain by nobody: a 0 any false SettingValues<PoemSettings>()")
        }
    }

    @Test func eachSettingIsDeclaredInTheOrderOfTheProperties() throws {
        var registry = Registry.standard
        try registry.register(Self.poem)
        let schema = registry.schema.text(indented: false)
        #expect(schema.contains(#""slow":{"description":"Whether it is read slowly""#))
    }

    @Test(arguments: [
        (
            #""title": "Rain", "lines": []"#,
            "the list is too short; expected at least 1 item [at $.origin.lines]"
        ),
        (
            #""title": "Rain", "lines": ["a"], "most": 10"#,
            "10 is out of range; expected a whole number from 0 to 9 [at $.origin.most]"
        ),
        (
            #""title": "Rain", "lines": ["a"], "least": 3, "most": 2"#,
            "it is smaller than 'least' [at $.origin.most]"
        ),
        (
            #""title": "Rain", "lines": ["a"], "limits": 3"#,
            "unknown setting 'limits' for origin 'poem'; expected one of 'title', 'lines', 'least', 'most', 'slow', "
                + "'author' [at $.origin.limits]"
        ),
        (
            #""slow": 1"#,
            "origin 'poem' needs the setting 'title'; expected text [at $.origin]"
        ),
        (
            #""slow": 1"#,
            "origin 'poem' needs the setting 'lines'; expected a list, each item text [at $.origin]"
        ),
        (
            #""slow": 1"#,
            "the number 1 is not allowed here; expected true or false [at $.origin.slow]"
        ),
    ])
    func mistakeIsReportedAsThatOfAnyOtherSetting(settings: String, message: String) throws {
        let error = #expect(throws: PolicyError.self) { try Self.run(settings) { _ in } }
        #expect(error?.description.contains("error: \(message)") == true, "\(error?.description ?? "")")
    }

    @Test func settingDeclaredInTwoGroupsIsError() throws {
        let twice = Plugin.wrapper("twice", "Has settings twice.", .group(Limits()), .group(Limits())) {
            _, inner, _, _ in
            inner
        }
        var registry = Registry()
        let conflict = #expect(throws: Registry.Conflict.self) { try registry.register(twice) }
        #expect(conflict?.description == "wrapper 'twice' cannot have a second or reserved setting called 'least'")
    }
}
