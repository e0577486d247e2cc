import Larder

extension Command {
    static let schema = Command(
        name: "schema", summary: "Writes the JSON Schema of policies, for editors.",
        details: """
            It knows every registered plugin. Put it beside the policies as policy.schema.json and let them name it:
            "$schema": "policy.schema.json".
            """,
        run: { arguments, registry, terminal in
            guard arguments.operands.isEmpty else { throw UsageError(message: "schema takes no operands") }
            terminal.print(registry.schema.text())
            return true
        })
}
