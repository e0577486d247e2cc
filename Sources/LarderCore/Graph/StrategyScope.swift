/// The surroundings of a strategy's part. `Context` has the same methods for all other plugins.
protocol StrategyScope: Sendable {
    func count(_ counter: Counter, _ times: UInt64)
    func set(_ level: Level, to value: String)
    func set(_ gauge: Gauge, to number: Double?)
    func record(_ timing: Timing, _ duration: Duration)
    func tell(_ kind: Decision.Kind, _ note: @autoclosure () -> String)
    func keep<State: Sendable>(_ make: () -> State) -> State
}

extension Sides {
    /// Adds to a counter that a plugin of the policy declares. Any other counter is ignored, including Larder's own.
    public func count(_ counter: Counter, _ times: UInt64 = 1) { scope.count(counter, times) }

    /// Sets a level of a plugin of the policy to one of its values. Another level or value is ignored.
    public func set(_ level: Level, to value: String) { scope.set(level, to: value) }

    /// Sets a gauge of a plugin of the policy: see ``Context/set(_:to:)-(Gauge,_)``.
    public func set(_ gauge: Gauge, to number: Double?) { scope.set(gauge, to: number) }

    /// Records one duration of a timing of a plugin of the policy: see ``Context/record(_:_:)``.
    public func record(_ timing: Timing, _ duration: Duration) { scope.record(timing, duration) }

    /// Sends a decision to the log and to the streams of ``Pantry/decisions``. The note must hold no key, parameter,
    /// address or payload.
    public func tell(_ kind: Decision.Kind, _ note: @autoclosure () -> String) { scope.tell(kind, note()) }

    /// Returns the strategy's own state of this type. It outlives a reload that leaves the strategy's declaration
    /// unchanged. `make` creates the state the first time.
    ///
    /// Each strategy has its own state. A strategy among the settings of another shares none with it.
    public func keep<State: Sendable>(_ make: () -> State) -> State { scope.keep(make) }
}
