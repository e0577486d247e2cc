/// Finds what would keep a pantry from writing to its cache folder, without writing anything.
package enum CacheFolderCheck {
    /// The problems of a folder, as warnings: a pantry goes on without what it cannot write.
    package static func problems(in folder: String, _ settings: [ProcessSettings]) -> [Problem] {
        func warning(_ message: String, _ file: String) -> Problem { Problem(message, .warning, file: file) }
        if let failure = Disk.whyNotWritable(folder) {
            return [warning("the cache folder cannot be used: \(failure)", folder)]
        }
        // The files' names may come from the environment.
        let files = settings.flatMap { settings in
            [
                ("metrics", settings.metrics?.file), ("metrics.prometheus", settings.metrics?.prometheus),
                ("log", settings.log?.file),
            ]
        }
        return files.compactMap { part, name in
            guard let name, Disk.item(folder + "/" + name)?.isFolder == true else { return nil }
            return warning("a folder lies where the file of '\(part)' should be", folder)
        }
    }
}
