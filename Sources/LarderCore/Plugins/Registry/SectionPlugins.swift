extension Plugin {
    /// Declares a section of policies: a key with an object of settings, which makes an ``Attachment`` for the resource.
    ///
    /// ```swift
    /// Plugin.section("visits", "Counts the loads of a person.", goesAround: true,
    ///     Setting("most", .int(1...100), default: 10, help: "How many are remembered")
    /// ) { context, most in Visits(most: most, context: context) }
    /// ```
    ///
    /// A policy writes `"visits": { "most": 20 }` beside `origin` and `store`. Several sections of a policy go around its
    /// loads in the order of registration, the first one outermost.
    ///
    /// - Parameters:
    ///   - goesAround: whether the attachment puts a loader of its own around loads: see ``Attachment/around(_:)``.
    ///   - make: makes the attachment. ``Context/keep(_:)``, ``Context/place(_:)`` and counters work as in every plugin.
    public static func section<each Value>(
        _ name: String, _ about: String, goesAround: Bool = false, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Attachment
    ) -> Plugin {
        build(.section, name, about, counters: counters, levels: levels, repeat each settings) {
            (values: repeat each Value) in
            (
                .section(goesAround: goesAround) { context in try make(context, repeat each values) },
                traits?(repeat each values) ?? Traits()
            )
        }
    }

    /// Declares a section of `_larder.json`: a key with an object of settings, which makes one ``Attachment`` for the
    /// whole pantry, such as a connection or a quota that several resources share.
    ///
    /// Other plugins get it with ``Context/attachment(_:)``, and an app with `pantry.attachment(Quota.self)`. It has no
    /// counters, because metrics belong to resources.
    public static func pantrySection<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Attachment
    ) -> Plugin {
        build(.pantrySection, name, about, repeat each settings) { (values: repeat each Value) in
            (.section(goesAround: false) { context in try make(context, repeat each values) }, Traits())
        }
    }

    /// Declares a plugin of a module's own kind. Other plugins name it in a setting of the type
    /// ``SettingType/part(_:)`` and make its part with ``Part/make(_:in:)``:
    ///
    /// ```swift
    /// Plugin.custom(.signer, "session", "Signs calls with the session's token.",
    ///     Setting("header", .text, default: "Authorization", help: "The field that is set")
    /// ) { context, header in SessionSigner(header: header) }
    ///
    /// Plugin.origin("prices", "Today's prices.", Setting("sign", .part(.signer), help: "Who signs the calls")
    /// ) { context, sign in Prices(signer: try sign.make((any Signer).self, in: context)) }
    /// ```
    public static func custom<each Value>(
        _ kind: PluginKind, _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], traits: (@Sendable (repeat each Value) -> Traits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Sendable
    ) -> Plugin {
        build(kind, name, about, counters: counters, levels: levels, isCustom: true, repeat each settings) {
            (values: repeat each Value) in
            (.custom { context in try make(context, repeat each values) }, traits?(repeat each values) ?? Traits())
        }
    }
}

extension Part {
    /// Makes what a plugin of a module's own kind declares.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of one of Larder's kinds or the plugin makes another type; any
    ///   error of the plugin.
    public func make<Made>(_ type: Made.Type, in context: Context) throws -> Made {
        guard case .custom(let make) = recipe else {
            throw Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not of a kind of a module")
        }
        let made = try make(context.of(self))
        guard let wanted = made as? Made else {
            throw Registry.Conflict(
                description: "\(plugin.kind) '\(plugin.name)' makes \(Swift.type(of: made)) and not \(type)")
        }
        return wanted
    }

    /// Whether its attachment goes around loads.
    var goesAround: Bool {
        if case .section(let goesAround, _) = recipe { goesAround } else { false }
    }

    /// Makes the attachment of this section.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is no section; any error of the plugin.
    func attachment(in context: Context) throws -> any Attachment {
        guard case .section(_, let make) = recipe else {
            throw Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not a section")
        }
        return try make(context)
    }

    /// Checks an attachment of this section.
    ///
    /// - Throws: ``Registry/Conflict`` if it goes around loads and the plugin does not declare it.
    func check(_ attachment: any Attachment) throws {
        // Otherwise its loader would be ignored without a word.
        let probe = ProbedLoader()
        if !goesAround, (attachment.around(probe) as? ProbedLoader) !== probe {
            throw Registry.Conflict(
                description:
                    "\(plugin.kind) '\(plugin.name)' returns another loader from around(_:), but is declared without goesAround: true"
            )
        }
    }
}

/// A loader that is only compared.
private final class ProbedLoader: Loader {
    func load(_ call: Call) async throws -> Loaded<Entry> { throw LoadError(.failed, "this loader loads nothing") }
}
