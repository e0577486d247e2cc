import Larder

extension Command {
    static let store = Command(
        name: "store", summary: "Looks into the stores of an app, checks them and removes entries.",
        operands: "SUBCOMMAND [RESOURCE] [KEY|DIGEST]",
        details: """
            \(StoreSubcommand.list)

            It works with every store that keeps entries outside of memory and can list them, also while the app has the store
            open. It opens the stores as the policies of the app say, and never asks an origin.

            RESOURCE is the name of a resource or the path of its policy file. KEY is the whole key, such as
            'feed@alice?id=42', in quotes. DIGEST is the digest of the key as 'ls' shows it, or its first digits, at least four.
            Keys may hold private data, so they are shown only with --keys.

            'verify' checks payloads against their checksums where there are some: with the store 'sqlite', and with the
            validator 'checksum' in every store. Like a load, it removes an entry that a validator refuses.

            Exit code of 'verify': 0 if nothing damaged is left, 1 otherwise.
            """,
        options: [
            .policies,
            Option(
                "cache", value: "DIR",
                help: "The folder where an app's stores keep files (default: that of 'larder load')"),
            .json, .format(["text", "json"]),
            Option("keys", help: "ls, get: Show the keys"),
            Option("payload", help: "get: Write the payload to the output, and the facts to the error output"),
            Option("output", value: "FILE", help: "get: Write the payload to this file"),
            Option("scope", value: "NAME", help: "expire, clear: The entries of this account"),
            Option("no-scope", help: "expire, clear: The entries that belong to no account"),
            Option("tag", value: "TAG", help: "expire, clear: The entries with this tag"),
            Option("all", help: "expire, clear: All entries"),
            .assume,
        ],
        run: { arguments, registry, terminal in
            let call = try StoreCall(arguments)
            let stores = try await OpenStores(call, registry: registry, terminal: terminal)
            let telling = terminal.tellStoreFaults(of: stores.pantry, in: call.cache)
            defer { telling.stop() }
            let isDone: Bool
            do {
                isDone = try await stores.run()
            } catch {
                let explained = call.resource.map { stores.explained(error, of: $0) } ?? error
                await stores.close()
                throw explained
            }
            await stores.close()
            return isDone
        })
}
