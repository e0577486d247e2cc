import Larder

extension Command {
    static let schema = Command(
        name: "schema", summary: "Writes the JSON Schema of policies, for editors.",
        details: """
            The schema covers every registered plugin. Save it in the folder of policies as policy.schema.json, and begin
            each policy with "$schema": "policy.schema.json". The output is JSON, with --json or without.
            """,
        options: [.json],
        run: { arguments, registry, terminal in
            guard arguments.operands.isEmpty else { throw UsageError(message: "schema takes no operands") }
            terminal.print(registry.schema.text())
            return true
        })
}
