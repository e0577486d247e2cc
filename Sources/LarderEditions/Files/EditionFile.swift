public import Larder

/// The content of an edition: a whole set of policies, and the plugins that it needs.
public struct EditionFile: Hashable, Sendable {
    /// The largest number of policies in an edition.
    public static let mostPolicies = 10_000

    /// The name of the channel that may offer the edition.
    public var channel: String
    /// The number, by which people call the edition.
    public var number: Int
    /// A line for people; nil if there is none.
    public var about: String?
    /// The digests of the declarations of the plugins that the policies name. The key is the kind and the name:
    /// `strategy network-first`. The value ``anyDeclaration`` needs only a plugin of that kind and name.
    public var plugins: [String: String]
    /// The policies by the name of their file: `feed.json`, or `_base.json` for one that others extend.
    public var policies: [String: JSON]

    /// Creates an edition.
    public init(
        channel: String, number: Int, about: String? = nil, plugins: [String: String], policies: [String: JSON]
    ) {
        (self.channel, self.number, self.about) = (channel, number, about)
        (self.plugins, self.policies) = (plugins, policies)
    }

    /// The texts of the policies by the name of their resource, as `Pantry.replace(policies:)` expects them.
    public var texts: [String: String] {
        let texts = policies.map { (String($0.key.dropLast(PolicyName.suffix.count)), $0.value.text() + "\n") }
        return Dictionary(texts) { first, _ in first }
    }

    /// Reads the payload of a signed file. No signature is verified: see ``SignedFile/signers(among:)``.
    ///
    /// - Throws: ``EditionError`` with the code `badFile`, which names the place and no value.
    public init(reading file: SignedFile) throws(EditionError) {
        guard file.kind == .edition else { throw EditionError(.badFile, "this is a channel, not an edition") }
        var reader = try ObjectReader(file)
        channel = try reader.plainName("channel")
        number = try reader.count("number")
        about = try reader.optionalText("about", atMost: 1_000)
        plugins = [:]
        if var needs = try reader.inner("needs") {
            for need in try needs.object("plugins", atMost: 1_000) {
                guard case .string(let digest) = need.value, digest == Self.anyDeclaration || Digest.isValid(digest),
                    PluginName(need.name) != nil
                else {
                    throw needs.wrong(
                        "plugins", "expected plugins such as \"strategy cache-first\", each with \(Digest.expectation)")
                }
                plugins[need.name] = digest
            }
            try needs.end()
        }
        policies = [:]
        for policy in try reader.object("policies", atMost: Self.mostPolicies) {
            guard PolicyName.isValid(policy.name), case .object = policy.value else {
                throw reader.wrong("policies", "expected objects by names such as \"feed.json\" or \"_base.json\"")
            }
            policies[policy.name] = policy.value
        }
        try reader.end()
    }

    /// The JSON text of the edition, which is its payload. It is the same for the same content.
    public var text: String {
        func sorted<Value>(_ items: [String: Value], _ json: (Value) -> JSON) -> JSON {
            .object(items.sorted { $0.key < $1.key }.map { JSON.Member($0.key, json($0.value)) })
        }
        var members = [
            JSON.Member("format", .string(SignedFile.Kind.edition.rawValue)), JSON.Member("channel", .string(channel)),
            JSON.Member("number", .int(number)),
        ]
        if let about { members.append(JSON.Member("about", .string(about))) }
        members.append(JSON.Member("needs", ["plugins": sorted(plugins) { .string($0) }]))
        members.append(JSON.Member("policies", sorted(policies) { $0 }))
        return JSON.object(members).text() + "\n"
    }

    /// Returns the edition as a file without signatures.
    ///
    /// - Throws: ``EditionError`` if a field is outside its limits, so that nobody could read the file.
    public func file() throws(EditionError) -> SignedFile {
        let file = try SignedFile(.edition, payload: Array(text.utf8))
        _ = try EditionFile(reading: file)
        return file
    }
}

/// The name of a policy's file in an edition.
enum PolicyName {
    static let suffix = ".json"

    /// Whether an edition may have a file of this name. The settings of the process are not part of editions.
    static func isValid(_ name: String) -> Bool {
        name.hasSuffix(suffix) && !name.hasSuffix(".schema.json") && name.count > suffix.count && name.utf8.count <= 255
            && !name.hasPrefix(".") && name != "_larder.json" && !name.contains("/")
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
