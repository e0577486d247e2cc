/// What `_larder.json` says: what belongs to the process and not to one resource.
package struct ProcessSettings: Sendable, Equatable {
    /// Where metrics are dumped, and when.
    package struct Metrics: Sendable, Equatable {
        package var file: String
        package var prometheus: String?
        package var every: Duration
        package var keep: Int
        package var signal: String?
    }

    /// Where decisions are logged.
    package struct Log: Sendable, Equatable {
        package var file: String
        package var most: Int
    }

    package var metrics: Metrics?
    package var log: Log?

    /// The file's name.
    package static let file = "_larder.json"
}

extension SettingType where Value == ProcessSettings {
    /// The whole file.
    package static var process: SettingType<ProcessSettings> {
        .object(
            "the process's settings",
            Setting("$schema", optional: .text, help: "For editors; not looked at"),
            Setting("metrics", optional: .metricsFile, help: "Where metrics are dumped"),
            Setting("log", optional: .logFile, help: "Where decisions that were not plain are logged")
        ) { _, _, _, metrics, log in ProcessSettings(metrics: metrics, log: log) }
    }
}

extension SettingType where Value == ProcessSettings.Metrics {
    static var metricsFile: SettingType<ProcessSettings.Metrics> {
        .object(
            "the metrics file",
            Setting("file", .name, default: "metrics.json", help: "The dump, in the cache folder"),
            Setting(
                "prometheus", optional: .name, help: "The same for a textfile collector, in the cache folder"),
            Setting(
                "every", .duration(.seconds(1) ... .forever), default: .seconds(60), help: "How often it is written"),
            Setting("keep", .int(0...1_000), default: 24, help: "How many older dumps stay beside it"),
            Setting("signal", optional: .choice(["USR1", "USR2", "HUP"]), help: "A signal that has it written at once")
        ) { node, reading, file, prometheus, every, keep, signal in
            if file == prometheus {
                reading.report("both files have one name", at: node.place)
                return nil
            }
            return ProcessSettings.Metrics(
                file: file, prometheus: prometheus, every: every, keep: keep, signal: signal)
        }
    }
}

extension SettingType where Value == ProcessSettings.Log {
    static var logFile: SettingType<ProcessSettings.Log> {
        .object(
            "the log file",
            Setting("file", .name, default: "decisions.jsonl", help: "The log, in the cache folder"),
            Setting(
                "most", .size, default: 10_000_000, help: "How large it gets before it is set aside as FILE.1")
        ) { _, _, file, most in ProcessSettings.Log(file: file, most: most) }
    }
}

extension SettingType where Value == Double {
    /// How much of a resource's decisions is told: `"all"`, `"off"` or a share.
    static var told: SettingType<Double> {
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
