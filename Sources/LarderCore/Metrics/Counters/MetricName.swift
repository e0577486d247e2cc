/// The rules for the names of plugins' metrics. The text formats use these names for their families.
enum MetricName {
    /// The maximum length of a name, in characters.
    static let longest = 64
    /// The maximum number of values of a level.
    static let mostValues = 16
    /// The suffixes that the text formats add to names.
    private static let suffixes = ["_total", "_info", "_bucket", "_sum", "_count", "_created"]

    /// Returns whether a name consists of lowercase words joined by single underscores, and has no suffix of the text
    /// formats.
    static func isSound(_ name: String) -> Bool {
        name.utf8.count <= longest && words(name, joinedBy: "_") && !isPart(name)
    }

    /// Returns whether a name ends like a part of another family in the text formats.
    static func isPart(_ name: String) -> Bool { suffixes.contains { name.hasSuffix($0) } }

    /// Returns whether a level may have this value.
    static func isSound(value: String) -> Bool { value.utf8.count <= longest && words(value, joinedBy: "-") }

    /// Returns whether a text consists of words of lowercase letters and digits. The first character must be a letter.
    private static func words(_ text: String, joinedBy hyphen: Unicode.Scalar) -> Bool {
        let words = text.unicodeScalars.split(separator: hyphen, omittingEmptySubsequences: false)
        guard let first = text.unicodeScalars.first, isLetter(first) else { return false }
        return words.allSatisfy { !$0.isEmpty && $0.allSatisfy { isLetter($0) || ("0"..."9").contains($0) } }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }

    /// Returns the reason why a metric cannot have its name and families; nil if it can.
    fileprivate static func fault(of metric: some PluginMetric) -> String? {
        if !isSound(metric.name) { return "its name is not made of lowercase words joined by underscores" }
        return metric.families.contains { MetricFamily.coreNames.contains($0.name) }
            ? "the text formats use that name already" : nil
    }
}

extension Counter {
    /// The reason why a plugin cannot declare this counter; nil if it can.
    package var fault: String? { index == nil ? MetricName.fault(of: self) : "Larder counts that itself" }
}

extension Level {
    /// The reason why a plugin cannot declare this level; nil if it can.
    package var fault: String? {
        if !MetricName.isSound(name) || name.contains(where: \.isNumber) {
            return "its name is not made of lowercase words joined by underscores"
        }
        if ResourceDump.coreMembers.contains(name) { return "dumps use that name already" }
        if values.count < 2 || values.count > MetricName.mostValues || Set(values).count < values.count {
            return "it does not have two to \(MetricName.mostValues) different values"
        }
        if !values.allSatisfy({ MetricName.isSound(value: $0) }) {
            return "a value is not made of lowercase words joined by hyphens"
        }
        if families.contains(where: { MetricName.isPart($0.name) }) {
            return "the text formats use an ending of its values"
        }
        return MetricName.fault(of: self)
    }
}

extension Gauge {
    /// The reason why a plugin cannot declare this gauge; nil if it can.
    package var fault: String? { MetricName.fault(of: self) }
}

extension Timing {
    /// The reason why a plugin cannot declare this timing; nil if it can.
    package var fault: String? {
        if name.hasSuffix("_seconds") || name.hasSuffix("_milliseconds") { return "its name has a unit" }
        return MetricName.fault(of: self)
    }
}
