import Larder

/// Checks that a store survives the loss of its folder. A system that needs room may delete cache folders at any time.
extension StoreConformance {
    func checkFolderLoss(_ findings: inout BrokenPromises) {
        check("the cache folder is deleted while the store is in use", findings: &findings) { trial in
            func entry(_ text: String) -> Entry { Self.entry(text, Metadata(fetchedAt: trial.world.now)) }
            let (old, new) = (TestedPlugin.key(["id": "1"], scope: "a"), TestedPlugin.key(["id": "2"], scope: "a"))
            try await trial.write(entry("old"), for: old)
            for selection in [Selection.scope("a"), .key(old), .all] {
                try trial.deleteCacheFolder()
                do { try await trial.remove(selection) } catch {
                    trial.expect(
                        false, promise: .restoresFolder, expected: "a removal that finds nothing", got: "\(error)")
                }
            }
            try trial.deleteCacheFolder()
            do { try await trial.write(entry("new"), for: new) } catch {
                trial.expect(
                    false, promise: .restoresFolder, expected: "a write that makes the folder again", got: "\(error)")
            }
        }
    }
}
