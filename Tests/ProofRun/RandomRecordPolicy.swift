import Larder
import LarderSimulation

/// A random policy of records, with all promises about changes of them.
struct RandomRecordPolicy {
    let json: JSON

    init(_ random: inout SeededGenerator) {
        let isNamedByService = random.isOne(in: 2)
        let hasVersion = random.roll(4) > 0
        let conflict = random.pick(["last-write-wins", "server-wins", "client-wins", "merge-fields"])
        var records: [String: JSON] = [
            "id": "/id", "ids": .string(isNamedByService ? "server" : "client"), "updatedAt": "/at",
            "conflict": .string(conflict), "pull": Self.pull(&random),
            "push": Self.push(&random, hasVersion: hasVersion),
        ]
        if hasVersion { records["version"] = "/rev" }
        var policy: [String: JSON] = [
            "resource": "notes",
            "origin": ["use": "http", "url": "https://api.example.com/notes{/id}{?since,token,cursor,limit}"],
            "records": Self.object(records),
            "promises": [
                "losesNothing": true, "appliesOnce": true, "noLostUpdate": true,
                "sentWithin": .string(random.pick(["1m", "2m", "10m", "1h"])),
            ],
        ]
        if random.isOne(in: 3) { policy["outbox"] = ["gather": .string(random.pick(["1s", "10s", "1m"]))] }
        json = Self.object(policy)
    }

    private static func object(_ members: [String: JSON]) -> JSON {
        .object(members.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value) })
    }

    private static func pull(_ random: inout SeededGenerator) -> JSON {
        var pull: [String: JSON] = ["items": "/items", "every": .string(random.pick(["1m", "5m", "1h"]))]
        switch random.roll(3) {
        case 0: (pull["use"], pull["next"]) = ("all", "/next")
        case 1: (pull["use"], pull["next"], pull["serverTime"]) = ("since", "/next", "/time")
        default: (pull["use"], pull["token"], pull["more"]) = ("token", "/token", "/more")
        }
        if pull["use"] != "all" {
            let told = random.roll(4)
            if told == 0 { pull["tombstone"] = "/gone" }
            if told == 1 { pull["deleted"] = "/gone" }
            if told == 2 { pull["full"] = .string(random.pick(["1h", "1d", "7d"])) }
        }
        return object(pull)
    }

    private static func push(_ random: inout SeededGenerator, hasVersion: Bool) -> JSON {
        let hasKey = random.roll(4) > 0
        if random.isOne(in: 2) { return hasKey ? "rest" : ["use": "rest", "key": ""] }
        var operation: [String: JSON] = ["op": "{kind}", "id": "{id}", "key": "{key}", "set": "{changes}"]
        if hasVersion { operation["if"] = "{version}" }
        var push: [String: JSON] = [
            "use": "batch", "every": .string(random.pick(["1s", "1m", "5m"])), "body": ["all": "{operations}"],
            "operation": object(operation), "results": "/results", "status": "/code", "record": "/record",
            "conflictRecord": "/record",
        ]
        if random.isOne(in: 2) { push["match"] = "/name" }
        return object(push)
    }
}
