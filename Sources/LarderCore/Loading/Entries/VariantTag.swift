/// The tag that all variants of a key have, so that they can be removed together.
///
/// Stores keep it like any other tag. Apps do not see it.
enum VariantTag {
    private static let prefix = "larder.variant-of-"

    /// Returns the tag of the variants of a key.
    static func of(_ key: Key) -> String { prefix + key.base.digest.prefix(32) }

    fileprivate static func isOne(_ tag: String) -> Bool { tag.utf8.starts(with: prefix.utf8) }
}

extension Metadata {
    /// The same metadata without the tag of a variant, for apps.
    var withoutVariantTag: Metadata {
        guard details != nil, tags.contains(where: VariantTag.isOne) else { return self }
        var metadata = self
        metadata.tags.removeAll(where: VariantTag.isOne)
        return metadata
    }
}
