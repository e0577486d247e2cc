/// A value of which descriptions, dumps and debuggers show the description alone. What it holds besides may be secret.
package protocol ShownByDescription: CustomReflectable, CustomStringConvertible {}

extension ShownByDescription {
    /// A mirror without children, so that a dump shows the description.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
