/// What `_larder.json` says: what belongs to the process and not to one resource.
package struct ProcessSettings: Sendable, Equatable {
    /// Where metrics are dumped, and when.
    package struct Metrics: Sendable, Equatable {
        package var file: String
        package var prometheus: String?
        package var every: Duration
        package var keep: Int
        package var signal: String?

        /// What a dump is called that so many newer ones follow: `metrics.1.json`.
        package func older(_ number: Int) -> String {
            file.hasSuffix(".json") ? "\(file.dropLast(5)).\(number).json" : "\(file).\(number)"
        }
    }

    /// Where decisions are logged.
    package struct Log: Sendable, Equatable {
        package var file: String
        package var most: Int
    }

    package var metrics: Metrics?
    package var log: Log?

    /// The name that two of the files would have, older ones included; nil if each has its own.
    var collision: String? {
        var names: Set<String> = []
        let own = [metrics?.file, metrics?.prometheus, log?.file, log.map { $0.file + ".1" }].compactMap { $0 }
        let older = metrics.map { metrics in (0..<metrics.keep).map { metrics.older($0 + 1) } } ?? []
        return (own + older).first { !names.insert($0).inserted }
    }

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
        ) { node, reading, _, metrics, log in
            let settings = ProcessSettings(metrics: metrics, log: log)
            if let name = settings.collision {
                reading.report("two files would be called '\(name)'", at: node.place, expected: "names of their own")
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
            Setting("file", .name, default: "metrics.json", help: "The dump, in the cache folder"),
            Setting(
                "prometheus", optional: .name, help: "The same for a textfile collector, in the cache folder"),
            Setting(
                "every", .duration(.seconds(1) ... .forever), default: .seconds(60), help: "How often it is written"),
            Setting("keep", .int(0...1_000), default: 24, help: "How many older dumps stay beside it"),
            Setting("signal", optional: .choice(["USR1", "USR2", "HUP"]), help: "A signal that has it written at once")
        ) { _, _, file, prometheus, every, keep, signal in
            ProcessSettings.Metrics(file: file, prometheus: prometheus, every: every, keep: keep, signal: signal)
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
