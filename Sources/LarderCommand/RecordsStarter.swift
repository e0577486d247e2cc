import Larder

/// The first policy of a resource whose records are changed offline, and the histories that go with it.
struct RecordsStarter {
    /// The side that names new records.
    let ids: String

    /// Returns nil without `--records`.
    ///
    /// - Throws: ``UsageError`` if an option has no effect or is missing.
    init?(_ arguments: Arguments, in registry: Registry) throws {
        let ids = arguments.value(of: "ids")
        guard arguments.has("records") else {
            if ids != nil { throw UsageError(message: "--ids goes with --records") }
            return nil
        }
        guard registry[.section, "records"] != nil else {
            throw UsageError(
                message: "no section 'records' is registered in this program; Registry.standard.adding(.sync) has it")
        }
        if arguments.value(of: "strategy") != nil {
            throw UsageError(message: "--strategy has no effect with --records: records answer the loads")
        }
        if !arguments.assumed.isEmpty {
            throw UsageError(message: "--assume has no effect with --records: the origin is one that takes a URL")
        }
        if let ids, !["client", "server"].contains(ids) {
            throw UsageError(message: "--ids takes client or server: the one that names new records")
        }
        if arguments.value(of: "url") == nil {
            throw UsageError(message: "--records needs --url URL, the place of the records at the service")
        }
        self.ids = ids ?? "client"
    }

    /// Returns the URL of lists, pages and single records. A URL with variables stays as it is.
    func url(_ url: String) -> String {
        let variables = url.replacing("$${", with: "").replacing("${", with: "")
        // With a place for the id only, pages still need one for what they are asked by.
        if variables.contains("{") {
            return variables.contains("{/id}") && !variables.contains("since") && !variables.contains("?")
                ? url + "{?since,cursor,limit}" : url
        }
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].hasSuffix("/") ? parts[0].dropLast() : parts[0]
        if parts.count == 1 { return path + "{/id}{?since,cursor,limit}" }
        return path + "{/id}?" + parts[1] + "{&since,cursor,limit}"
    }

    /// Returns the policy.
    func policy(of name: String, origin: JSON, registry: Registry) -> JSON {
        let hasTimeout = registry[.wrapper, "timeout"] != nil
        return .present([
            "$schema": "policy.schema.json",
            "resource": .string(name), "about": "What these records are, and who changes them",
            "origin": origin,
            "around": hasTimeout ? [["use": "timeout", "after": "20s"]] : nil,
            "records": [
                "id": "/id", "ids": .string(ids), "version": "/version", "updatedAt": "/updatedAt",
                "pull": [
                    "use": "since", "items": "/items", "next": "/next", "serverTime": "/serverTime",
                    "deleted": "/deleted",
                ],
                "push": "rest", "conflict": "merge-fields",
            ],
            "promises": ["losesNothing": true, "appliesOnce": true, "noLostUpdate": true, "sentWithin": "2m"],
        ])
    }

    /// Returns the scenarios that play what the policy promises.
    func scenarios(of name: String) -> JSON {
        func history(_ name: String, _ steps: [String], _ promises: String...) -> JSON {
            let expect = JSON.each(promises) { ($0, $0 == "sentWithin" ? "2m" : true) }
            return ["name": .string(name), "steps": .list(steps.map(JSON.string)), "expect": expect]
        }
        return [
            "resource": .string(name), "about": "Records that are made and changed offline",
            "histories": [
                history(
                    "A record that is made offline is sent when the network is back",
                    ["offline", "create", "update-new", "minute", "online"], "losesNothing", "appliesOnce", "sentWithin"
                ),
                history(
                    "A record is made once, although the answer is lost and the app is started anew",
                    ["answer-is-lost", "create", "minute", "restart"], "losesNothing", "appliesOnce"),
                history(
                    "A change does not replace that of another device which nobody here has seen",
                    ["offline", "update", "other-updates", "online"], "losesNothing", "noLostUpdate"),
                history(
                    "A change of a record that another device has deleted is not lost without a word",
                    ["offline", "update", "other-deletes", "restart", "online"], "losesNothing", "noLostUpdate"),
            ],
        ]
    }

    /// Returns the commands that suit the new policy.
    func next(_ name: String, path: String) -> [[String]] {
        let folder = path.dropLast("/\(name).json".count)
        let policies = folder == "Policies" ? [] : ["--policies", String(folder)]
        return [["check", path], ["sync", "probe", name] + policies, ["test"] + policies]
    }
}
