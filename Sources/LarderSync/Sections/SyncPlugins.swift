public import Larder

extension [Plugin] {
    /// The plugins of LarderSync: the sections `records` and `outbox`, the pullers, and the rules for conflicts.
    ///
    /// ```swift
    /// let pantry = try await Pantry(policies: folder, registry: .standard.adding(.sync))
    /// ```
    public static var sync: [Plugin] {
        [
            .records, .outbox, .pullAll, .pullSince, .pullToken, .pushRest, .pushBatch, .mergeFields, .lastWriteWins,
            .serverWins, .clientWins,
            .askApp,
        ]
    }
}
