/// The files that dumps are written to: the last one, older ones beside it, and one for a textfile collector.
struct DumpFiles: Sendable {
    let folder: String
    let settings: ProcessSettings.Metrics

    /// The kind of thing that lies in the place of the file and cannot be replaced by it; nil if nothing does.
    var obstacle: Disk.Failure? {
        let isFolder = Disk.item(folder + "/" + settings.file)?.isFolder == true
        return isFolder ? Disk.Failure("put the file in place", Disk.isFolder) : nil
    }

    /// Sets the former dump aside and puts the new one in its place. Readers find a whole one at any time.
    ///
    /// - Returns: whether there was a former one.
    func write(_ dump: MetricsDump) throws(Disk.Failure) -> Bool {
        try Disk.makeFolder(folder)
        let text = Array(dump.json.text(indented: false).utf8)
        let path = folder + "/" + settings.file
        let former = Disk.item(path)
        // Only when the new one is whole: a disk that is full must not cost older ones.
        try Disk.replace(path, with: [text], isPrivate: false) { if former?.isFolder == false { setAside(path) } }
        if let name = settings.prometheus {
            try Disk.replace(folder + "/" + name, with: [Array(dump.prometheus.utf8)], isPrivate: false)
        }
        return former != nil
    }

    private func setAside(_ path: String) {
        guard settings.keep > 0 else { return }
        for number in stride(from: settings.keep - 1, through: 1, by: -1) {
            try? Disk.move(folder + "/" + settings.older(number), to: folder + "/" + settings.older(number + 1))
        }
        // Where a file cannot bear two names, the former dump goes.
        try? Disk.copy(path, to: folder + "/" + settings.older(1))
    }
}
