extension Part {
    /// The facts that its plugin states; nil for a plugin of a kind without facts.
    var traits: (any Traits)? {
        switch recipe {
        case .origin(let traits, _): traits
        case .wrapper(let traits, _): traits
        case .strategy(let traits, _): traits
        case .validator(let traits, _): traits
        case .store(let traits, _): traits
        case .section(let traits, _): traits
        case .custom(let traits, _): traits
        case .eviction: nil
        }
    }

    /// The facts about the origin. A part of another kind has none of them.
    public var originTraits: OriginTraits { traits as? OriginTraits ?? OriginTraits() }
    /// The facts about the wrapper. A part of another kind has none of them.
    package var wrapperTraits: WrapperTraits { traits as? WrapperTraits ?? WrapperTraits() }
    /// The facts about the strategy. A part of another kind has none of them.
    package var strategyTraits: StrategyTraits { traits as? StrategyTraits ?? StrategyTraits() }
    /// The facts about the validator. A part of another kind has none of them.
    package var validatorTraits: ValidatorTraits { traits as? ValidatorTraits ?? ValidatorTraits() }
    /// The facts about the store. A part of another kind has none of them.
    public var storeTraits: StoreTraits { traits as? StoreTraits ?? StoreTraits() }
    /// The facts about the section. A part of another kind has none of them.
    package var sectionTraits: SectionTraits { traits as? SectionTraits ?? SectionTraits() }
    /// The facts about the plugin of a module's own kind. A part of another kind has none of them.
    public var customTraits: CustomTraits { traits as? CustomTraits ?? CustomTraits() }
    /// The number of origins that an origin is made of: itself, or those among its settings.
    package var originCount: Int {
        plugin.isMadeOfOthers ? nested.filter { $0.plugin.kind == .origin }.reduce(0) { $0 + $1.originCount } : 1
    }
    /// The times at which it acts differently: see ``Traits/borders``.
    package var borders: [Duration]? { traits?.borders }
    /// The time after which an origin, a wrapper or a store gives a call up.
    package var givesUpAfter: Duration? {
        originTraits.givesUpAfter ?? wrapperTraits.givesUpAfter ?? storeTraits.givesUpAfter
    }
}

extension Part {
    /// The parameters of the origin.
    var originParameters: OriginParameters {
        OriginParameters(taken: originTraits.parameters, required: originTraits.requiredParameters)
    }

    /// Returns the reason why the origin refuses requests with these parameters; nil if it accepts them.
    package func mistake(in parameters: Parameters) -> String? {
        do { try originParameters.check(Request("", parameters)) } catch { return error.message }
        return nil
    }
}
