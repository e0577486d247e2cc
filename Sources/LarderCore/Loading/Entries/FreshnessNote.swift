extension NoteKey where Value == String {
    /// The fact that decided how long a copy is fresh, in words for people: `http max-age 60`.
    ///
    /// A validator can note it when a payload arrives. `larder load` shows it beside the time at which freshness ends. It
    /// must hold no key, parameter or payload.
    public static var freshness: NoteKey { NoteKey("larder.freshness") }
}
