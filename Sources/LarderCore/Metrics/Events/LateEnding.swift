/// The end of a call whose caller got a copy instead, because its patience had ended.
enum LateEnding: Sendable {
    /// The origin answered.
    case answered
    /// The call failed.
    case failed
    /// The call was given up without an answer.
    case givenUp
}
