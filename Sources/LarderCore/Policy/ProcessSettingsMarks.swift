// The names of files of several processes that share a cache folder.
extension ProcessSettings {
    /// Returns these settings with the mark of a process in the name of each file: `metrics-MARK.json`.
    func marked(_ mark: String?) -> ProcessSettings {
        guard let mark else { return self }
        var settings = self
        func marked(_ name: String) -> String {
            let (stem, ending) = Self.parts(of: name)
            return stem + "-" + mark + ending
        }
        settings.metrics?.file = metrics.map { marked($0.file) } ?? ""
        settings.metrics?.prometheus = metrics?.prometheus.map(marked)
        settings.log?.file = log.map { marked($0.file) } ?? ""
        return settings
    }

    /// Returns the mark in the name of a file, or of an older one of its kind, that was made from `name`. Returns nil if the
    /// file has another name.
    static func mark(of file: String, from name: String) -> String? {
        let (stem, ending) = parts(of: name)
        guard file.hasPrefix(stem + "-") else { return nil }
        let rest = file.dropFirst(stem.count + 1)
        let mark = rest.prefix { "0123456789abcdef".contains($0) }
        let tail = rest.dropFirst(mark.count)
        // Dumps are numbered before the ending, and logs after it.
        let isOlder =
            tail.hasPrefix(".") && tail.hasSuffix(ending) && isNumber(tail.dropFirst().dropLast(ending.count))
            || tail.hasPrefix(ending + ".") && isNumber(tail.dropFirst(ending.count + 1))
        return mark.count == markLength && (tail == ending || isOlder) ? String(mark) : nil
    }

    private static let markLength = 16

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.allSatisfy { "0123456789".contains($0) }
    }

    /// `metrics` and `.json`.
    private static func parts(of name: String) -> (stem: Substring, ending: Substring) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name[...], "") }
        return (name[..<dot], name[dot...])
    }
}
