import LarderFoundation
import Larder
import Testing

@testable import LarderCommand

@Suite struct SchemaCommandTests {
    @Test func shippedSchemaMatchesDeclarations() async throws {
        let output = await Output(["schema"], registry: .shipped)
        #expect(output.code == 0)
        let shipped = try String(
            contentsOf: projectFolder.appending(path: "Policies/policy.schema.json"), encoding: .utf8)
        #expect(output.out == shipped, "larder schema > Policies/policy.schema.json")
    }

    /// The kinds that a policy names with `use`.
    private static let kinds = Registry.standard.kinds.filter { $0 != .section && $0 != .pantrySection }

    @Test(arguments: kinds) func schemaContainsEveryPluginAndSetting(_ kind: PluginKind) async throws {
        let definition = try Facts(await Output(["schema"]).out)["$defs"][kind.name]
        for plugin in Registry.standard[kind] {
            let own = definition["anyOf"].items.first { $0["properties"]["use"]["const"].string == plugin.name }
            let schema = try #require(own)
            #expect(schema["description"].string == plugin.about)
            #expect(schema["additionalProperties"].value as? Bool == false)
            let required = schema["required"].items.compactMap(\.string)
            #expect(required == ["use"] + plugin.settings.filter(\.isRequired).map(\.name))
            for setting in plugin.settings {
                #expect(schema["properties"][setting.name]["description"].string == setting.help)
            }
        }
    }

    @Test func schemaAllowsBareNameOfPluginWithoutRequiredSettings() async throws {
        let schema = try Facts(await Output(["schema"]).out)
        for kind in Self.kinds where !Registry.standard[kind].isEmpty {
            let names = schema["$defs"][kind.name]["anyOf"].items[0]["enum"].items.map(\.string)
            let bare = Registry.standard[kind].filter { !$0.settings.contains(where: \.isRequired) }
            #expect(names == bare.map(\.name))
        }
    }

    @Test func schemaCommandAcceptsNoOperands() async {
        let output = await Output(["schema", "x"])
        #expect(output.code == 2)
        #expect(output.err.hasPrefix("larder: schema takes no operands\n"))
    }
}
