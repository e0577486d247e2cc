import LarderSystem

/// The settings in `_larder.json`, which belong to the process and not to one resource.
package struct ProcessSettings: Sendable {
    /// The files that metrics are dumped to, and the times.
    package struct Metrics: Sendable, Equatable {
        package var file: String
        package var prometheus: String?
        package var every: Duration
        package var keep: Int
        package var signal: String?

        /// The number of older dumps that are kept by default.
        static let usualKeep = 24

        /// Returns the name of the dump that `number` newer dumps follow: `metrics.1.json`.
        package func older(_ number: Int) -> String {
            file.hasSuffix(".json") ? "\(file.dropLast(5)).\(number).json" : "\(file).\(number)"
        }
    }

    /// The file that decisions are logged to.
    package struct Log: Sendable, Equatable {
        package var file: String
        package var capacity: Int
    }

    package var metrics: Metrics?
    package var log: Log?
    /// The sections, in the order in which they are registered.
    package var sections: [Part] = []

    /// Whether the same files are named with the same settings.
    func namesSameFiles(as other: ProcessSettings) -> Bool { metrics == other.metrics && log == other.log }

    /// The name that two of the files would share, older dumps included; nil if all names differ.
    var collision: String? {
        var names: Set<String> = []
        let own = [metrics?.file, metrics?.prometheus, log?.file, log.map { $0.file + ".1" }].compactMap { $0 }
        let older = metrics.map { metrics in (0..<metrics.keep).map { metrics.older($0 + 1) } } ?? []
        return (own + older).first { !names.insert($0).inserted }
    }

    /// The name of the settings file.
    package static let file = "_larder.json"

    /// Returns the settings in the object of the file; nil after reporting what is wrong with them.
    static func read(_ root: Node, _ reading: PolicyDiagnostics) -> ProcessSettings? {
        let sections = reading.registry[.pantrySection].compactMap { plugin in
            root[plugin.name].flatMap { node in
                reading.inside("." + plugin.name) { Part(section: plugin, node, reading) }
            }
        }
        var settings = SettingType.process.read(root, reading)
        settings?.sections = sections
        return settings
    }
}

extension SettingType where Value == ProcessSettings {
    /// The type of the whole file.
    package static var process: SettingType<ProcessSettings> {
        .object(
            "the process's settings",
            Setting(
                ReservedKey.schema.rawValue, optional: .text, help: "The JSON Schema, for editors; Larder ignores it"),
            Setting(ReservedKey.metrics.rawValue, optional: .metricsFile, help: "The files that metrics are dumped to"),
            Setting(
                ReservedKey.log.rawValue, optional: .logFile, help: "The file that notable decisions are logged to"
            ).alsoCalled("logging", "logs", "logFile"),
            sections: .pantrySection
        ) { node, reading, _, metrics, log in
            let settings = ProcessSettings(metrics: metrics, log: log)
            if let name = settings.collision {
                reading.report("two files would be called '\(name)'", at: node.position, expected: "names of their own")
                return nil
            }
            return settings
        }
    }
}

extension SettingType where Value == ProcessSettings.Metrics {
    static var metricsFile: SettingType<ProcessSettings.Metrics> {
        .object(
            "the metrics file",
            Setting("file", .name, default: "metrics.json", help: "The name of the dump in the cache folder")
                .alsoCalled("path", "name"),
            Setting(
                "prometheus", optional: .name, help: "The name of a dump for a textfile collector, in the cache folder"),
            Setting(
                "every", .duration(.seconds(1) ... .forever), default: .seconds(60),
                help: "How often the dump is written"
            ).alsoCalled("interval", "period"),
            Setting(
                "keep", .int(0...1_000), default: ProcessSettings.Metrics.usualKeep,
                help: "How many older dumps are kept"),
            Setting(
                "signal", optional: .choice(["USR1", "USR2", "HUP"]),
                help: "A signal after which the dump is written at once")
        ) { _, _, file, prometheus, every, keep, signal in
            ProcessSettings.Metrics(file: file, prometheus: prometheus, every: every, keep: keep, signal: signal)
        }
    }
}

extension SettingType where Value == ProcessSettings.Log {
    static var logFile: SettingType<ProcessSettings.Log> {
        .object(
            "the log file",
            Setting("file", .name, default: "decisions.jsonl", help: "The name of the log in the cache folder")
                .alsoCalled("path", "name"),
            Setting(
                "capacity", .size, default: 10_000_000,
                help: "The size at which the log is renamed to FILE.1 and begun anew"
            ).alsoCalled("size", "maxSize", "maxBytes")
        ) { _, _, file, capacity in ProcessSettings.Log(file: file, capacity: capacity) }
    }
}

extension SettingType where Value == Double {
    /// The share of a resource's decisions that is logged: `"all"`, `"off"` or a share.
    static var logShare: SettingType<Double> {
        let share = SettingType<Double>.share
        let expectation = "\"all\", \"off\", or \(share.expectation)"
        return SettingType(
            "share of decisions", expectation: expectation,
            schema: ["anyOf": [["enum": ["all", "off"]], share.schema]], show: { _ in nil },
            read: { node, reading in
                switch node.string {
                case "all": return 1
                case "off": return 0
                case .some(let text) where !text.hasSuffix("%"):
                    reading.reject(node, expected: expectation)
                    return nil
                default: return share.read(node, reading)
                }
            })
    }
}
