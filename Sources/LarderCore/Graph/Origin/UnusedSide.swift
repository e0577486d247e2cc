/// A side without answers: the cached side of a strategy that keeps no copies, or the live side of a policy without an
/// origin.
package struct UnusedSide: Loader {
    package init() {}

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        throw LoadError.notCached
    }
}
