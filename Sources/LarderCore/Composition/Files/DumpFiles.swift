import LarderSystem

/// The files of dumps: the last dump, older ones beside it, and one for a textfile collector.
struct DumpFiles: Sendable {
    let folder: String
    let settings: ProcessSettings.Metrics

    /// The failure to expect because a folder is in the place of the file; nil if there is none.
    var obstacle: Disk.Failure? {
        let isFolder = Disk.item(folder + "/" + settings.file)?.isFolder == true
        return isFolder ? Disk.Failure("put the file in place", Disk.isFolder) : nil
    }

    /// Renames the former dump and writes the new one in its place. Readers find a complete dump at any time.
    ///
    /// - Returns: whether there was a former dump.
    func write(_ dump: MetricsDump) throws(Disk.Failure) -> Bool {
        try Disk.makeFolder(folder)
        let text = Array(dump.json.text(indented: false).utf8)
        let path = folder + "/" + settings.file
        let former = Disk.item(path)
        // The former dump is renamed only once the new one is written, so that a full disk does not cost older dumps.
        try Disk.replace(path, with: [text]) { if former?.isFolder == false { setAside(path) } }
        if let name = settings.prometheus {
            try Disk.replace(folder + "/" + name, with: [Array(dump.prometheus.utf8)])
        }
        return former != nil
    }

    private func setAside(_ path: String) {
        guard settings.keep > 0 else { return }
        for number in stride(from: settings.keep - 1, through: 1, by: -1) {
            try? Disk.move(folder + "/" + settings.older(number), to: folder + "/" + settings.older(number + 1))
        }
        // On a file system without hard links, the former dump is lost.
        try? Disk.copy(path, to: folder + "/" + settings.older(1))
    }
}
