extension Plugin {
    /// Declares a section of policies: a key with an object of settings, which makes an ``Attachment`` for the resource.
    ///
    /// ```swift
    /// Plugin.section("visits", "Counts the loads of a person.",
    ///     Setting("most", .int(1...100), default: 10, help: "How many are remembered"),
    ///     traits: { most in .with { $0.goesAround = true } }
    /// ) { context, most in Visits(most: most, context: context) }
    /// ```
    ///
    /// A policy writes `"visits": { "most": 20 }` beside `origin` and `store`. Several sections of a policy go around its
    /// loads in the order of registration, the first one outermost.
    ///
    /// - Parameters:
    ///   - traits: states whether the attachment changes loads: see ``SectionTraits``.
    ///   - make: makes the attachment. ``Context/keep(_:)``, ``PlacedContext/place(_:)`` and counters work as in every plugin.
    public static func section<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> SectionTraits)? = nil,
        make: @escaping @Sendable (SectionContext, repeat each Value) throws -> any Attachment
    ) -> Plugin {
        build(
            .section, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings, repeat each settings
        ) { (values: repeat each Value) in
            .section(traits?(repeat each values) ?? SectionTraits()) { context in try make(context, repeat each values)
            }
        }
    }

    /// Declares a section of `_larder.json`: a key with an object of settings, which makes one ``Attachment`` for the
    /// whole pantry, such as a connection or a quota that several resources share.
    ///
    /// Other plugins get it with ``Context/attachment(_:)``, and an app with `pantry.attachment(Quota.self)`. It has no
    /// counters, because metrics belong to resources.
    public static func pantrySection<each Value>(
        _ name: String, _ about: String, _ settings: repeat Setting<each Value>,
        make: @escaping @Sendable (SectionContext, repeat each Value) throws -> any Attachment
    ) -> Plugin {
        build(.pantrySection, name, about, repeat each settings) { (values: repeat each Value) in
            .section(SectionTraits()) { context in try make(context, repeat each values) }
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
        counters: [Counter] = [], levels: [Level] = [], gauges: [Gauge] = [], timings: [Timing] = [],
        traits: (@Sendable (repeat each Value) -> CustomTraits)? = nil,
        make: @escaping @Sendable (Context, repeat each Value) throws -> any Sendable
    ) -> Plugin {
        build(
            kind, name, about,
            counters: counters, levels: levels, gauges: gauges, timings: timings,
            isCustom: true, repeat each settings
        ) {
            (values: repeat each Value) in
            .custom(traits?(repeat each values) ?? CustomTraits()) { context in try make(context, repeat each values) }
        }
    }
}

extension Part {
    /// Makes what a plugin of a module's own kind declares.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is of one of Larder's kinds or the plugin makes another type; any
    ///   error of the plugin.
    public func make<Made>(_ type: Made.Type, in context: Context) throws -> Made {
        guard case .custom(_, let make) = recipe else {
            throw Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not of a kind of a module")
        }
        let made = try make(Context(context.surroundings, of: context.identity(of: self)))
        guard let wanted = made as? Made else {
            throw Registry.Conflict(
                description: "\(plugin.kind) '\(plugin.name)' makes \(Swift.type(of: made)) and not \(type)")
        }
        return wanted
    }

    /// Makes the attachment of this section.
    ///
    /// - Throws: ``Registry/Conflict`` if the part is no section; any error of the plugin.
    func attachment(in context: SectionContext) throws -> any Attachment {
        guard case .section(_, let make) = recipe else {
            throw Registry.Conflict(description: "\(plugin.kind) '\(plugin.name)' is not a section")
        }
        return try make(context)
    }

    /// Checks an attachment of this section.
    ///
    /// - Throws: ``Registry/Conflict`` if it goes around loads or answers them and the plugin does not declare it, or if the
    ///   plugin declares that it answers them and it does not.
    func check(_ attachment: any Attachment) throws {
        let answers = attachment is any AnsweringAttachment
        if answers != sectionTraits.answersLoads {
            throw Registry.Conflict(
                description: "\(plugin.kind) '\(plugin.name)' "
                    + (answers
                        ? "makes an attachment that answers loads, but its traits do not say so"
                        : "says in its traits that it answers loads, but its attachment is no AnsweringAttachment"))
        }
        // Otherwise its loader would be ignored without a word.
        let probe = ProbedLoader()
        if !sectionTraits.goesAround, (attachment.around(probe) as? ProbedLoader) !== probe {
            throw Registry.Conflict(
                description:
                    "\(plugin.kind) '\(plugin.name)' returns another loader from around(_:), but its traits do not say that it goes around loads"
            )
        }
    }
}

/// A loader that is only compared.
private final class ProbedLoader: Loader {
    func load(_ call: Call) async throws -> Loaded<Entry> { throw LoadError(.failed, "this loader loads nothing") }
}
