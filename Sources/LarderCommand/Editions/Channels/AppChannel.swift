import Larder
import LarderEditions
import LarderSystem

/// The section `channel` in the `_larder.json` of an app.
struct AppChannel {
    let name: String
    let release: [PublicKey]
    let steer: [PublicKey]
    /// Whether it names an emergency edition.
    var carriesEmergency: Bool { emergency != nil }
    /// The keys of policies that editions may change.
    let reach: Set<String>
    private let emergency: Node?
    private let origin: Part?
    private let reader: PolicyReader

    /// Reads the section. Returns nil if there is none.
    init?(_ reader: PolicyReader) throws(PolicyError) {
        let settings = try reader.process()
        guard let part = settings.sections.first(where: { $0.plugin.name == Plugin.channel.name }),
            let name = part.node["name"]?.string
        else { return nil }
        let section = part.node
        func texts(_ key: String) -> [String]? {
            guard case .list(let items)? = section[key]?.content else { return nil }
            return items.compactMap(\.string)
        }
        (self.name, self.reader) = (name, reader)
        release = (texts("release") ?? []).compactMap(PublicKey.init)
        steer = (texts("steer") ?? []).compactMap(PublicKey.init)
        reach = Set(texts("reach") ?? Editions.usualReach)
        emergency = section["emergency"]
        origin = part.nested.first { $0.plugin.kind == .origin }
    }

    /// The problems that would keep an app from using its channel: an origin with one file for all, keys with two roles, unknown
    /// keys of policies, and an emergency edition that the app would refuse.
    var problems: [Problem] {
        func problem(_ message: String, at key: String, _ position: SourcePosition? = nil) -> Problem {
            Problem(message, file: ProcessSettings.file, at: position, path: "$.channel.\(key)")
        }
        var problems = steer.filter(release.contains).map {
            problem("key \($0.id) is under 'release', too; a key can be one of them", at: "steer")
        }
        if let origin, origin.originTraits.parameters?.contains("file") == false {
            problems.append(
                problem("the origin of the channel does not take {file}", at: "origin", origin.node.position))
        }
        let known = reader.registry.members.map(\.name)
        problems += reach.sorted().filter { !known.contains($0) }.map { key in
            Problem(
                "'\(key)' is no key of policies", file: ProcessSettings.file, path: "$.channel.reach",
                suggestion: closestName(to: key, among: known))
        }
        if let emergency, let reason = refusal(of: emergency) {
            problems.append(problem(reason, at: "emergency", emergency.position))
        }
        return problems
    }

    /// Returns why the app would refuse its emergency edition; nil if it would not.
    private func refusal(of emergency: Node) -> String? {
        guard let path = emergency.string else { return nil }
        do {
            let file = try SignedFile(
                .edition, reading: Disk.read(reader.folder + "/" + path, limit: SignedFile.mostBytes + 1))
            _ = try file.signers(among: release)
            let edition = try EditionFile(reading: file)
            if edition.channel != name { return "this is an edition of channel \(edition.channel)" }
            if let need = edition.unmetNeed(in: reader.registry) { return need }
            try reader.supplied(edition.texts, within: reach)
            return nil
        } catch let error as PolicyError {
            return "the app would refuse it: \(error.problems.first { $0.severity == .error }?.description ?? "errors")"
        } catch { return "\(error)" }
    }
}
