import LarderCore

/// The settings of the section `otlp`.
struct OTLPSettings {
    let endpoint = Setting(
        "endpoint", .otlpEndpoint,
        help: "The URL for metrics, with its path, as in \"http://localhost:4318/v1/metrics\""
    ).alsoCalled("url", "uri", "host", "collector")
    let fields = Setting(
        "fields", .fields, default: [],
        help: "Header fields of every request; secret values come from the environment, as in \"${TOKEN}\""
    ).calledFields()
    let attributes = Setting(
        "attributes", .otlpAttributes, default: [],
        help: "Attributes of the process, as in { \"service.name\": \"shop\" } (default: its name)")
    let every = Setting(
        "every", .duration(.seconds(1) ... .seconds(86_400)), default: .seconds(60),
        help: "How often the metrics are sent"
    ).calledEvery()
    let limit = Setting(
        "limit", .duration(.milliseconds(1) ... .seconds(600)), default: .seconds(10),
        help: "How long one request may take"
    ).calledTimeout()
    let histograms = Setting(
        "histograms", .choice(["explicit", "exponential"]), default: "explicit",
        help:
            "The buckets of distributions: the fixed ones of the text formats, or finer ones that fit the data")
    let authorities = Setting(
        "authorities", optional: .path,
        help: "A file with the only authorities whose certificates are trusted, in PEM (default: the system's)")
}

extension Plugin {
    /// A section of `_larder.json` that sends the metrics to an OpenTelemetry collector.
    static let otlp = Plugin.otlp { context in
        #if canImport(Darwin)
            return context.share("otlp") { URLSessionTransport(world: context.world, connectionsPerHost: 1) }
        #else
            return try context.share("otlp") { try CurlTransport(world: context.world, connectionsPerHost: 1) }
        #endif
    }

    /// A section that sends the metrics over a transport.
    static func otlp(over transport: @escaping @Sendable (Context) throws -> any HTTPTransport) -> Plugin {
        .pantrySection(
            "otlp", "Sends the metrics to an OpenTelemetry collector, by HTTP in JSON.",
            .group(OTLPSettings())
        ) { context, settings in OTLPExporter(settings, over: try transport(context), context) }
    }
}

/// A name and a text that describe a process or a series.
struct OTLPAttribute: Hashable, Sendable {
    var name: String
    var value: String
}

extension SettingType where Value == String {
    /// The URL to which metrics are sent.
    fileprivate static var otlpEndpoint: SettingType<String> {
        let expectation = "a URL such as \"http://localhost:4318/v1/metrics\""
        return SettingType(
            "URL", expectation: expectation, schema: ["type": "string", "pattern": "^https?://[^/?#]+/."],
            example: "http://localhost:4318/v1/metrics", show: { "\"\($0)\"" },
            read: { node, reading in
                guard let text = node.string, let address = HTTPAddress(text) else {
                    reading.reject(node, expected: expectation)
                    return nil
                }
                guard address.target != "/" else {
                    reading.report("the URL has no path", at: node.position, expected: expectation)
                    return nil
                }
                return address.url
            })
    }
}

extension SettingType where Value == [OTLPAttribute] {
    /// The attributes of a process: an object of texts.
    fileprivate static var otlpAttributes: SettingType<[OTLPAttribute]> {
        object("attributes", expectation: "an object of texts, such as { \"service.name\": \"shop\" }") {
            member, reading in
            guard let value = member.value.string, !member.name.isEmpty else {
                reading.reject(member.value, expected: "text")
                return nil
            }
            return OTLPAttribute(name: member.name, value: value)
        }
    }
}
