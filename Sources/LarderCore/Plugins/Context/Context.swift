public import LarderSystem

/// The surroundings of a part: the resource it belongs to, and all that a plugin may use there.
///
/// Some kinds of plugins may use more: see ``OriginContext``, ``StoreContext`` and ``SectionContext``.
///
/// `@unchecked Sendable`: its variables are constants, and only Larder has subclasses.
public class Context: StrategyScope, @unchecked Sendable {
    let surroundings: Surroundings
    /// The identity of the part; nil in a test of a plugin.
    let identity: PartIdentity?

    init(_ surroundings: Surroundings, of identity: PartIdentity?) {
        self.surroundings = surroundings
        self.identity = identity
        guard let identity else { return }
        // Parts of the former and the new graph may set them at the same time.
        if identity.part.setsValues { _ = keep { PartValues() } }
        surroundings.reloadState.keepValues(of: identity.fingerprint)
    }

    /// The name of the resource that the part is composed for; empty for a section of `_larder.json`.
    public var resource: String { surroundings.resource }
    /// Time, randomness, background work and blocking I/O. A plugin uses no others.
    public var world: any World { surroundings.world }

    var meter: Meter { surroundings.meter.meter }
    private var number: Int { identity?.fingerprint ?? 0 }

    /// Adds to a counter that a plugin of the policy declares. Any other counter is ignored: only Larder counts its own,
    /// and the name of an undeclared counter could contain anything.
    public func count(_ counter: Counter, _ times: UInt64 = 1) { meter.count(declared: counter, times) }

    /// Sets a level that a plugin of the policy declares to one of its values. Another level or value is ignored. Before
    /// it is set, a level has its first value.
    ///
    /// Each part has its own value, which survives a reload as the state of ``keep(_:)`` does. A dump shows the worst of
    /// them. This may be called while a lock is held, so that the later of two simultaneous changes stays.
    public func set(_ level: Level, to value: String) {
        if meter.knows(level, at: value) { keep { PartValues() }.set(level, to: value) }
    }

    /// Sets a gauge that a plugin of the policy declares. Another gauge is ignored.
    ///
    /// Each part has its own number, which survives a reload as the state of ``keep(_:)`` does. A dump shows them together:
    /// see ``Gauge``. They do not show a number that is nil or not finite, which stands for one that is not known. This may be
    /// called while a lock is held.
    public func set(_ gauge: Gauge, to number: Double?) {
        guard meter.knows(gauge) else { return }
        keep { PartValues() }.set(gauge, to: number.flatMap { $0.isFinite ? $0 : nil })
    }

    /// Records one duration of a timing that a plugin of the policy declares. Another timing is ignored. A negative
    /// duration counts as zero.
    public func record(_ timing: Timing, _ duration: Duration) { meter.record(declared: timing, duration) }

    /// Reports a decision to the log and to every stream of ``Pantry/decisions``. The note is made only if there is a
    /// listener and the policy logs its decisions.
    ///
    /// - Parameters:
    ///   - kind: the kind of decision. A plugin declares kinds of its own as static members of ``Decision/Kind``.
    ///   - note: the decision in words, without any key, parameter, address or payload.
    public func tell(_ kind: Decision.Kind, _ note: @autoclosure () -> String) { meter.send(kind, note()) }

    /// Returns the state of this part. The first call makes it with `make`. Later calls return the same state, also after
    /// a reload that does not change the part's declaration.
    ///
    /// Each part has its own state of each type. A part among the settings of another shares none with it, nor with the
    /// parts beside it, even if they are written alike.
    public func keep<State: Sendable>(_ make: () -> State) -> State { surroundings.reloadState.item(of: number, make) }

    /// Returns the object of this type and name that all plugins of the pantry share, whatever their resources, such as
    /// a pool of connections. Makes it with `make` if nobody uses one.
    ///
    /// ```swift
    /// let pool = try context.share(host) { try ConnectionPool(to: host) }
    /// ```
    ///
    /// The pantry does not keep the object alive: it ends when its last user is released. After a reload, new parts get
    /// the same object as long as a part or a running load uses it. When two threads ask at the same time, `make` may be
    /// called twice, and both get one of the two objects.
    ///
    /// - Parameters:
    ///   - name: distinguishes objects of one type.
    ///   - make: makes the object.
    /// - Throws: the error of `make`.
    public func share<Object: AnyObject & Sendable>(
        _ name: String = "", _ make: () throws -> Object
    ) rethrows -> Object {
        try surroundings.shared.object(name, make)
    }

    /// Returns the attachment of this type that a section of `_larder.json` has made for the whole pantry; nil if there
    /// is none. If several have this type, returns the first one in the order of registration.
    ///
    /// Ask for it at each use: a reload replaces it when the settings of its section change. In a section of the pantry
    /// itself the result is nil.
    public func attachment<Wanted>(_ type: Wanted.Type) -> Wanted? {
        surroundings.attachments?.all.lazy.compactMap { $0.attachment(as: type) }.first
    }
}
