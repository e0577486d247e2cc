/// The surroundings of a section.
///
/// `@unchecked Sendable`: its variables are constants.
public final class SectionContext: PlacedContext, @unchecked Sendable {
    /// The end of the section.
    let end = SectionEnd()

    /// The pantry; nil after it was released.
    var pantry: (any AnyObject & Sendable)? { surroundings.owner?.pantry }

    /// Whether the part may start work of its own in the background, such as refreshes on a schedule. It is false in a
    /// tool that only looks into the stores beside the app, and in one that only does due work.
    public var allowsBackgroundWork: Bool { surroundings.owner?.allowsBackgroundWork ?? true }

    /// Whether ``DueWork/runDue()`` may be called, so that the part may note in its place when work is due. It is false in a
    /// tool that only looks into the stores beside the app.
    public var allowsDueWork: Bool { surroundings.owner?.allowsDueWork ?? true }
}
