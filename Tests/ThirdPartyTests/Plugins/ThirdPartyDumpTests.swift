import Larder
import LarderSimulation
import Testing

/// The settings of another module's plugin in metrics dumps, which leave the machine.
@Suite struct ThirdPartyDumpTests {
    private struct VaultSettings {
        let password = Setting("password", .text, help: "The password")
        let words = Setting("words", .list(of: .text), default: [], help: "More passwords")
        let pin = Setting("pin", .int(0...9_999).hiddenInDumps, help: "The PIN")
        let code = Setting("code", .code, help: "A value of a type that the module made")
        let details = Setting("details", .json, default: [:], help: "Anything")
        let region = Setting("region", optional: .text.shownInDumps, help: "The region of the vault")
        let zones = Setting("zones", .list(of: .text.shownInDumps), default: [], help: "The zones of the vault")
        let mode = Setting("mode", .choice(["quick", "slow"]), default: "quick", help: "How it is opened")
        let size = Setting("size", .size, default: 1_000, help: "Its size")
        let inner = Setting("inner", optional: .part(.wrapper), help: "A vault inside")
    }

    private static let vault = Plugin.wrapper(
        "vault", "Opens a vault before each call.", .group(VaultSettings())
    ) { _, inner, _ in inner }

    private static func dump(_ wrapper: String) throws -> String {
        let feed = """
            { "resource": "feed", "origin": "scripted", "strategy": "network-only", "around": [\(wrapper)] }
            """
        return try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(["feed": feed], in: world, plugins: [vault])
            simulated.origin.play(.value("1"))
            _ = try await simulated.resource.load()
            return await simulated.pantry.metrics.dump().json.text(indented: false)
        }
    }

    @Test func textIsHiddenUnlessItsDeclarationShowsIt() throws {
        let inner = #"{ "use": "vault", "password": "hunter-four", "pin": 9876, "code": "hunter-five" }"#
        let text = try Self.dump(
            """
            { "use": "vault", "password": "hunter", "words": ["hunter-two"], "pin": 9876, "code": "hunter-three",
              "details": { "hunter-six": "hunter-seven" }, "region": "north", "zones": ["a", "b"], "mode": "slow",
              "size": "3KB", "inner": \(inner) }
            """)
        #expect(!text.contains("hunter") && !text.contains("9876"), "\(text)")
        for part in [
            #""password":"…"#, #""words":"…"#, #""pin":"…"#, #""code":"…"#, #""region":"north""#,
            #""zones":["a","b"]"#, #""mode":"slow""#, #""size":"3KB""#, #""inner":{"use":"vault","password":"…"#,
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }

    @Test func settingWithoutEffectIsLeftOut() throws {
        let text = try Self.dump(#"{ "use": "timeout", "after": "8s", "password": "hunter" }"#)
        #expect(text.contains(#"{"use":"timeout","after":"8s"}"#) && !text.contains("hunter"))
    }
}

extension SettingType where Value == String {
    /// A type that another module made.
    fileprivate static var code: SettingType<String> {
        SettingType(
            "code", expectation: "a code", schema: ["type": "string"], show: { $0 }, read: { node, _ in node.string })
    }
}
