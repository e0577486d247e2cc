/// Finds files of the process that have the name of something else.
extension PolicyReader {
    /// Returns a warning for each file that `_larder.json` names like a policy file, or like the folder of a resource in
    /// the cache folder. A name from the environment is not shown.
    package func checkOutputNames() -> [Problem] {
        guard let settings = checkProcess().settings, let root = try? files.root(of: ProcessSettings.file),
            let policies = try? names()
        else { return [] }
        let folders = policies.map { PlaceName.folder(of: String($0.dropLast(".json".count))) }
        let outputs = [
            (ReservedKey.metrics.rawValue, "file", settings.metrics?.file),
            (ReservedKey.metrics.rawValue, "prometheus", settings.metrics?.prometheus),
            (ReservedKey.log.rawValue, "file", settings.log?.file),
        ]
        return outputs.compactMap { key, setting, name in
            guard let name, policies.contains(name) || folders.contains(name) else { return nil }
            let node = root[key]?[setting] ?? root[key] ?? root
            return Problem(
                policies.contains(name)
                    ? "a policy file has this name, so the file would replace the policy if both were in one folder"
                    : "the folder of a resource's copies has this name, so the file cannot be written",
                .warning, file: node.position.source.name, at: node.position, path: "$.\(key).\(setting)",
                expected: "a name that no resource has")
        }
    }
}
