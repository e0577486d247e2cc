/// An attachment that answers the loads of its resource in place of a strategy, such as one that keeps records.
///
/// Its section states ``SectionTraits/answersLoads``, and a policy can have one such section. The policy needs no
/// strategy then. Its origin and wrappers serve the section: see ``SectionContext/fetch(_:onlyFrom:)``.
public protocol AnsweringAttachment: Attachment {
    /// The loader that answers the loads of the resource. It is asked for once for each graph that is composed.
    ///
    /// Its loads are counted and timed like all others, and other sections may go around it. It gets each request as the
    /// caller made it, so it heeds ``Request/mode`` and ``Call/deadline`` by itself. Streams of updates ask it twice: with
    /// the mode `cachedOnly`, and then with `refresh`. The parameters of requests are its own, and not those of the origin.
    ///
    /// It states the source, the freshness and the age of an answer when it creates it:
    ///
    /// ```swift
    /// Loaded(entry, from: .store("records"), freshness: isCurrent ? .fresh : .stale, age: age, isStored: true)
    /// ```
    ///
    /// Payloads are decoded for the caller; one that does not decode is an error of the code ``LoadError/Code/undecodable``.
    /// Each load is awaited, because without a store no copy can be shown at once.
    var loader: any Loader { get }
}
