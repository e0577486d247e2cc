/// A few lists of keys, each ordered from the oldest to the newest. Keys are small numbers. A key is in one list or in
/// none.
struct KeyLists {
    /// The neighbours of each key. The numbers after the last key are the ends of the lists.
    private var newer: [Int32]
    private var older: [Int32]
    private var lists: [UInt16]
    /// The number of keys in each list.
    private(set) var counts: [Int]
    private let keys: Int

    private static let none = UInt16.max

    /// Makes empty lists for the keys below `keys`.
    init(_ lists: Int = 1, keys: Int) {
        newer = (0..<Int32(keys + lists)).map { $0 }
        older = newer
        self.lists = Array(repeating: Self.none, count: keys)
        counts = Array(repeating: 0, count: lists)
        self.keys = keys
    }

    /// Returns the list that contains a key, or nil if none does.
    func list(of key: Int) -> Int? { lists[key] == Self.none ? nil : Int(lists[key]) }

    /// Returns the oldest key of a list, or nil if the list is empty.
    func oldest(_ list: Int = 0) -> Int? { following(keys + list, in: list) }

    /// Returns the next newer key of the same list, or nil if there is none.
    func following(_ key: Int, in list: Int = 0) -> Int? {
        let next = Int(newer[key])
        return next == keys + list ? nil : next
    }

    /// Makes a key the newest of a list.
    mutating func push(_ key: Int, to list: Int = 0) {
        remove(key)
        let end = keys + list
        let last = Int(older[end])
        (older[key], newer[key]) = (Int32(last), Int32(end))
        (newer[last], older[end]) = (Int32(key), Int32(key))
        lists[key] = UInt16(list)
        counts[list] += 1
    }

    /// Takes a key out of its list. Does nothing if it is in none.
    mutating func remove(_ key: Int) {
        guard let list = list(of: key) else { return }
        let (before, after) = (older[key], newer[key])
        (newer[Int(before)], older[Int(after)]) = (after, before)
        lists[key] = Self.none
        counts[list] -= 1
    }

    /// Removes the oldest key of a list and returns it.
    @discardableResult
    mutating func removeOldest(_ list: Int = 0) -> Int? {
        let key = oldest(list)
        if let key { remove(key) }
        return key
    }
}
