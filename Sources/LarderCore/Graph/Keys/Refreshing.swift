// The entries that are being refreshed in the background. Each has at most one refresh at a time.
extension KeyTable {
    /// Begins a refresh of the entry under `key`. Returns false if one is under way; otherwise ``endRefresh(_:)`` must
    /// follow.
    func beginRefresh(_ key: Key) -> Bool {
        change(key) { state in
            defer { state[key].isRefreshing = true }
            return !state[key].isRefreshing
        }
    }

    /// Returns whether the entry under `key` is being refreshed.
    func isRefreshing(_ key: Key) -> Bool { read(key) { $0[key].isRefreshing } ?? false }

    /// Ends the refresh of the entry under `key`.
    func endRefresh(_ key: Key) { change(key) { $0[key].isRefreshing = false } }
}
