import LarderFoundation
import Larder

// Faults of stores, which commands tell with the folders of the stores.
extension Terminal {
    /// Tells faults of the stores until the subscription ends, such as that a damaged database was set aside.
    func tellStoreFaults(of pantry: Pantry, in cache: URL?) -> Subscription {
        pantry.onStoreFault { [self] name, note in
            self.note("\(name): \(note)\(pantry.resource(name).folders(in: cache))")
        }
    }
}

extension Resource {
    /// The folders of the store in brackets, for messages.
    func folders(in cache: URL?) -> String {
        let places = places
        guard let cache, !places.isEmpty else { return "" }
        return " [in " + places.map { cache.shortPath + "/" + $0 }.joined(separator: ", ") + "]"
    }
}
