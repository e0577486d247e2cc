import LarderFoundation

extension Disk {
    /// Returns the reason why this process cannot write to a folder, or nil if it can. The folder need not exist yet.
    ///
    /// It makes a folder in it, or in the nearest folder above that exists, and removes it at once: permissions alone do
    /// not tell, because some file systems refuse what they permit.
    package static func whyNotWritable(_ folder: String) -> Failure? {
        guard let item = item(folder) else {
            let above = split(folder).folder
            return isThere(folder) ? Failure("make a folder", EEXIST) : above == folder ? nil : whyNotWritable(above)
        }
        if !item.isFolder { return Failure("make a folder", ENOTDIR) }
        guard access(folder, W_OK | X_OK) == 0 else { return Failure("write to the folder") }
        let trial = folder + "/.larder-\(UInt64.random(in: .min ... .max))"
        guard mkdir(trial, 0o700) == 0 else { return Failure("write to the folder") }
        rmdir(trial)
        return nil
    }

    /// Returns whether this process may write to a file.
    public static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }
}
