/// An event of the editions of an installation.
public enum EditionEvent: Sendable, Hashable {
    /// The channel cannot be used, or is too old. What is in effect stays in effect.
    case channelRefused(EditionError)
    /// The channel offers an edition, which was fetched and verified.
    case offered(Int)
    /// An edition that the channel offers cannot be used. What is in effect stays in effect.
    case refused(Int?, EditionError)
    /// An edition is in effect, and has not proved itself yet.
    case trial(Int)
    /// The edition in effect has proved itself.
    case confirmed(Int)
    /// An edition is not taken again, because the app ended twice before it answered a load under it.
    case reverted(Int?)
    /// An edition is no longer in effect.
    case left(Int)
}

extension EditionEvent: CustomStringConvertible {
    /// `edition 42 is in effect, on trial`.
    public var description: String {
        switch self {
        case .channelRefused(let error): "the channel is not used: \(error)"
        case .offered(let number): "edition \(number) is offered and was verified"
        case .refused(let number, let error):
            "\(number.map { "edition \($0)" } ?? "an edition") is not used: \(error)"
        case .trial(let number): "edition \(number) is in effect, on trial"
        case .confirmed(let number): "edition \(number) is confirmed"
        case .reverted(let number):
            "\(number.map { "edition \($0)" } ?? "an edition") is left: the app ended twice before an answer under it"
        case .left(let number): "edition \(number) is no longer in effect"
        }
    }
}
