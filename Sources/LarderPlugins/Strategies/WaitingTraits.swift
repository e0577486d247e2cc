import LarderCore

extension Traits {
    /// The traits of a strategy that waits for the origin for `patience`, and lets calls go on for `background`.
    static func waiting(_ patience: Duration?, _ background: Duration) -> Traits {
        Traits().with {
            $0.patience = patience
            $0.borders = [patience, background].compactMap { $0 }
        }
    }
}
