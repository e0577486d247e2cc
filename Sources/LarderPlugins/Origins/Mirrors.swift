import LarderCore

extension Plugin {
    /// An origin made of several origins for the same data.
    static let mirrors = Plugin.origin(
        "mirrors", "Asks several origins for the same data: the next one is asked when the one before fails.",
        Setting(
            "origins", .list(of: .part(.origin), atLeast: 1), help: "The origins, in the order of asking"
        ).givesSameData(),
        traits: { origins in
            .with {
                $0.cannotFail = origins.contains(where: \.originTraits.cannotFail)
                $0.isLocal = origins.allSatisfy(\.originTraits.isLocal)
                $0.needsNoNetwork = origins.allSatisfy { $0.originTraits.isLocal || $0.originTraits.needsNoNetwork }
                let taken = origins.compactMap(\.originTraits.parameters)
                $0.parameters = taken.count == origins.count ? taken.flatMap { $0 } : nil
                // Any of them may have to be asked.
                $0.requiredParameters = origins.flatMap(\.originTraits.requiredParameters)
                $0.borders = []
            }
        }
    ) { context, origins in
        Mirrors(origins: try origins.map { (name: $0.plugin.name, loader: try $0.origin(in: context)) })
    }
}

/// A loader that asks several origins in order. An answer is final, even if it is an error: the next origin is not asked.
struct Mirrors: Loader {
    let origins: [(name: String, loader: any Loader)]

    func load(_ call: Call) async throws -> Loaded<Entry> {
        var first: LoadError?
        for (name, loader) in origins {
            do {
                return try await loader.load(call)
            } catch {
                guard let failure = LoadError.failure(error) else { throw CancellationError() }
                if failure.isAnswer { throw error }
                call.trail.note("mirror \(name)", failure.event)
                first = first ?? failure
            }
        }
        throw first ?? LoadError(.failed, "there are no mirrors")
    }
}
