import LarderCore

extension StrategyTraits {
    /// The traits of a strategy that waits for the origin for `patience`, lets calls go on for `background`, and
    /// refreshes copies after the share `refreshAhead` of their fresh time.
    static func waiting(
        _ patience: Duration?, _ background: Duration, refreshAhead: Double? = nil
    ) -> Self {
        .with {
            $0.patience = patience
            $0.refreshAhead = refreshAhead
            $0.borders = [patience, background].compactMap { $0 }
        }
    }
}
