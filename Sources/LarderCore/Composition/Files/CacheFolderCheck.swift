import LarderSystem

/// Finds problems that would keep a pantry from writing to its cache folder or its data folder. It leaves nothing
/// behind.
package enum CacheFolderCheck {
    /// Returns the problems of a data folder as warnings, because not every policy needs one.
    package static func problems(inData folder: String) -> [Problem] {
        guard let failure = Disk.whyNotWritable(folder) else { return [] }
        return [Problem("the data folder cannot be used: \(failure)", .warning, file: folder)]
    }

    /// Returns the problems of a cache folder as warnings, because a pantry goes on without what it cannot write.
    package static func problems(in folder: String, _ settings: [ProcessSettings]) -> [Problem] {
        func warning(_ message: String, _ file: String) -> Problem { Problem(message, .warning, file: file) }
        if let failure = Disk.whyNotWritable(folder) {
            return [warning("the cache folder cannot be used: \(failure)", folder)]
        }
        // Messages do not show the files' names, because these may come from the environment.
        let files = settings.flatMap { settings in
            [
                ("metrics", settings.metrics?.file), ("metrics.prometheus", settings.metrics?.prometheus),
                ("log", settings.log?.file),
            ]
        }
        return files.compactMap { part, name in
            guard let name, Disk.item(folder + "/" + name)?.isFolder == true else { return nil }
            return warning("there is a folder where the file of '\(part)' should be", folder)
        }
    }
}
