import LarderFoundation
import Larder
import LarderSystem

/// Counts the copies in a cache folder that the policies do not use, because the copies came from another source.
enum UnusedCopies {
    /// Returns a warning for each of the resources that has such copies. Opens the stores beside the app, and asks no origin.
    static func problems(in cache: URL, of reader: PolicyReader, _ resources: Set<String>) async -> [Problem] {
        // Policies that cannot be composed have errors of their own.
        guard Pantry.isCacheFolder(cache.path),
            let pantry = try? await Pantry(
                reader: reader.withoutProcess, cache: cache, world: SystemWorld(), substitute: { _ in UnusedSide() },
                removesUnused: false,
                allowsBackgroundWork: false)
        else { return [] }
        var problems: [Problem] = []
        for name in pantry.resources where resources.contains(name) {
            guard let count = await pantry.countUnusedCopies(of: name), count > 0 else { continue }
            problems.append(
                Problem(
                    "\(counted(count, one: "copy is", many: "copies are")) of another source than the policy's and not used",
                    .warning, file: "\(cache.shortPath): \(name)",
                    expected: "the former URL in \"formerly\", if it gave the same data"))
        }
        await pantry.close()
        return problems
    }
}
