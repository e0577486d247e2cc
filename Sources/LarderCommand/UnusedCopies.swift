#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Larder
import LarderBase

/// Counts the copies in a cache folder that the policies do not use, because the copies came from another source.
enum UnusedCopies {
    /// Returns a warning for each resource that has such copies. Opens the stores beside the app, and asks no origin.
    static func problems(in cache: String, of reader: PolicyReader) async -> [Problem] {
        // Policies that cannot be composed have errors of their own.
        guard Pantry.isCacheFolder(cache),
            let pantry = try? await Pantry(
                reader: reader.withoutProcess, cache: URL(filePath: cache, directoryHint: .isDirectory),
                world: SystemWorld(), substitute: { _ in UnusedSide() }, removesUnused: false,
                allowsBackgroundWork: false)
        else { return [] }
        var problems: [Problem] = []
        for name in pantry.resources {
            guard let count = await pantry.countUnusedCopies(of: name), count > 0 else { continue }
            let copies = count == 1 ? "1 copy is" : "\(count) copies are"
            problems.append(
                Problem(
                    "\(copies) of another source than the policy's and not used", .warning, file: "\(cache): \(name)",
                    expected: "the former URL in \"formerly\", if it gave the same data"))
        }
        await pantry.close()
        return problems
    }
}
