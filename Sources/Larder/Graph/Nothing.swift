/// A cached side that has nothing, for strategies that keep no copies.
package struct Nothing: Loader {
    package init() {}

    package func load(_ call: Call) async throws -> Loaded<Entry> {
        throw Lookup.notCached
    }
}
