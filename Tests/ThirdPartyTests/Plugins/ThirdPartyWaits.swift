import Larder

// Plugins that wait, as another package would write them. They use the same calls as the built-in ones.

// MARK: Timeout

/// A timeout: ends a call after a limit.
struct Impatience: Loader {
    let inner: any Loader
    let limit: Duration
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let loaded = try await inner.load(call, within: limit, in: world) { return loaded }
        throw LoadError(.timeout, "no patience after \(limit.brief)")
    }
}

extension Plugin {
    static let impatience = Plugin.wrapper(
        "impatience", "Gives a call up after a while.",
        Setting("limit", .duration(.milliseconds(1) ... .seconds(60)), help: "After how long"),
        traits: { limit in .with { $0.givesUpAfter = limit } }
    ) { context, inner, limit in Impatience(inner: inner, limit: limit, world: context.world) }
}

// MARK: Hedge

/// A hedge: makes further calls, one after another, while there is no answer.
struct Insistence: Loader {
    let inner: any Loader
    let calls: Int
    let pause: Duration
    let world: any World

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.isSend { return try await inner.load(call) }
        let attempts = FirstSuccess<Loaded<Entry>>(in: world)
        for number in 0..<calls {
            attempts.enter(after: pause * number) { [inner] in try await inner.load(call) }
        }
        return try await attempts.result()
    }
}

extension Plugin {
    static let insistence = Plugin.wrapper(
        "insistence", "Makes further calls while there is no answer.",
        Setting("calls", .int(1...5), default: 3, help: "How many calls there are at most"),
        Setting(
            "pause", .duration(.milliseconds(1) ... .seconds(60)), help: "How long each waits for the one before it"),
        traits: { calls, pause in .with { $0.tries = (calls, pause * (calls - 1)) } }
    ) { context, inner, calls, pause in
        Insistence(inner: inner, calls: calls, pause: pause, world: context.world)
    }
}

// MARK: Race

/// A race: returns the first of copy and origin's answer.
struct FirstOfBoth: Loader {
    let sides: Sides

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if let copy = try await sides.copyWhileResting(call) { return copy }
        let looking = AwaitableWork(in: sides.world) { [sides] in try await sides.copy(call) }
        let race = FirstSuccess<Loaded<Entry>>(in: sides.world)
        race.enter {
            let copy = (try? await looking.value()) ?? nil
            let shown = copy?.shown(for: [.fresh, .whileRevalidating], fellBack: race.failure != nil)
            if let shown { return shown }
            throw LoadError.notCached
        }
        race.enter(lingering: .seconds(60)) { [sides] in try await sides.ask(call) }
        do {
            return try await race.result()
        } catch let error as LoadError where error.code == .deadline {
            let copy = (try? looking.outcome?.get()) ?? nil
            if let shown = copy?.shown(for: .showing, fellBack: true) { return shown }
            throw error
        } catch {
            return try await sides.standIn(for: error, in: call)
        }
    }
}

extension Plugin {
    static let whicheverIsFirst = Plugin.strategy(
        "whichever-is-first", "The copy or the origin's answer, whichever is there first."
    ) { sides in FirstOfBoth(sides: sides) }
}

// MARK: Network first

/// A network-first strategy: returns the origin's answer, or a copy when patience ends.
struct AnswerOrCopy: Loader {
    let sides: Sides
    let patience: Duration?

    func load(_ call: Call) async throws -> Loaded<Entry> {
        try await sides.load(call, patience: patience)
    }
}

extension Plugin {
    static let answerOrCopy = Plugin.strategy(
        "answer-or-copy", "The origin's answer, or a copy after a while.", .patience,
        traits: { patience in .with { $0.patience = patience } }
    ) { sides, patience in AnswerOrCopy(sides: sides, patience: patience) }
}
