import LarderFoundation
import Larder
import LarderSystem

/// Counts the copies in a cache folder that the policies do not use, because the copies came from another source.
enum UnusedCopies {
    /// Returns a warning for each of the resources that has such copies.
    static func problems(in cache: URL, of reader: PolicyReader, _ resources: Set<String>) async -> [Problem] {
        await counts(in: cache, of: reader, resources).map { name, count in
            let copies = count == 1 ? "1 copy is" : "\(count) copies are"
            return Problem(
                "\(copies) of another source than the policy's and not used", .warning,
                file: "\(cache.shortPath): \(name)",
                expected: "the former URL in \"formerly\", if it gave the same data")
        }
    }

    /// Returns the number of such copies of each resource that has any, by name. Opens the stores beside the app, and asks no
    /// origin.
    static func counts(
        in cache: URL, of reader: PolicyReader, _ resources: Set<String>
    ) async -> [(name: String, count: Int)] {
        // Policies that cannot be composed have errors of their own.
        guard Pantry.isCacheFolder(cache.path),
            let pantry = try? await Pantry(
                reader: reader.withoutProcess, cache: cache, world: SystemWorld(), substitute: { _ in UnusedSide() },
                removesUnused: false,
                allowsBackgroundWork: false)
        else { return [] }
        var counts: [(name: String, count: Int)] = []
        for name in pantry.resources where resources.contains(name) {
            if let count = await pantry.countUnusedCopies(of: name), count > 0 { counts.append((name, count)) }
        }
        await pantry.close()
        return counts
    }
}
