import Larder
import LarderSimulation

/// The policy of a world, its service and its troubles, drawn from a seed.
struct WorldRules: Sendable, CustomStringConvertible {
    enum Pull: String, CaseIterable { case all, since, token }
    enum Push: String, CaseIterable { case rest, batch }

    var serverNames = false
    var hasVersions = true
    var hasStamps = false
    var pull = Pull.all
    var push = Push.rest
    var pageSize = 2
    /// Whether answers to changes have the record.
    var answersWithRecord = true
    /// Whether a refusal has the service's record.
    var conflictsTellRecord = true
    var merges = true
    var conflict = "merge-fields"
    /// The differences of the devices' clocks, in milliseconds.
    var clocks: [Int64] = [0, 0, 0]
    /// The chance of a trouble in a call, in percent.
    var troubles = 0
    var steps = 8
    /// The number of records that the service has at first.
    var initial = 0
    /// Whether the service forgets old tokens.
    var forgetsTokens = false
    var hasLogouts = false
    var hasOtherSource = false
    var hasResets = false

    init() {}

    init(_ random: inout SeededGenerator) {
        func flip(_ random: inout SeededGenerator) -> Bool { random.roll(2) == 0 }
        serverNames = flip(&random)
        hasVersions = flip(&random)
        hasStamps = flip(&random)
        pull = Pull.allCases[random.roll(3)]
        push = Push.allCases[random.roll(2)]
        pageSize = 1 + random.roll(3)
        answersWithRecord = flip(&random)
        conflictsTellRecord = flip(&random)
        merges = flip(&random)
        let conflicts = ["merge-fields", "server-wins", "client-wins"] + (hasStamps ? ["last-write-wins"] : [])
        conflict = conflicts[random.roll(conflicts.count)]
        clocks = (0..<3).map { _ in [0, 86_400_000, -86_400_000][random.roll(3)] }
        troubles = [0, 10, 30, 60][random.roll(4)]
        steps = 4 + random.roll(16)
        initial = random.roll(4)
        forgetsTokens = random.roll(3) == 0
        hasLogouts = random.roll(4) == 0
        hasOtherSource = random.roll(4) == 0
        hasResets = random.roll(6) == 0
    }

    /// Returns the policy.
    ///
    /// - Parameters:
    ///   - source: the name of the service.
    ///   - gather: how long changes wait.
    func policy(source: String, gather: String) -> String {
        let pulls: [Pull: String] = [
            .all: #""use": "all", "next": "/next""#,
            .since: #""use": "since", "deleted": "/deleted", "next": "/next", "serverTime": "/now", "overlap": "0s""#,
            .token: #""use": "token", "deleted": "/deleted", "token": "/token", "more": "/more""#,
        ]
        let refusal = conflictsTellRecord ? #", "conflictRecord": "/record""# : ""
        let pushes: [Push: String] = [
            .rest: #""use": "rest", "record": "/record", "parallel": 3"#,
            .batch: """
            "use": "batch", "most": 3, "parameters": { "batch": "1" }, "body": { "operations": "{operations}" },
            "operation": { "op": "{kind}", "id": "{id}", "key": "{key}", "version": "{version}",
              "record": "{record}", "set": "{changes}" },
            "results": "/results", "status": "/code", "record": "/record", "match": "/key"
            """,
        ]
        let stamps = hasStamps ? #""updatedAt": "/at", "time": "milliseconds","# : ""
        return """
            { "resource": "notes", "origin": { "use": "world", "at": "\(source)" },
              "records": { "id": "/id", "ids": "\(serverNames ? "server" : "client")", \(stamps)
                \(hasVersions ? #""version": "/v","# : "") "conflict": "\(conflict)",
                "pull": { \(pulls[pull] ?? ""), "items": "/notes", "epoch": "/epoch", "limit": \(pageSize) },
                "push": { \(pushes[push] ?? "")\(refusal) } },
              "outbox": { "gather": "\(gather)", "merge": \(merges) } }
            """
    }

    var description: String {
        "names: \(serverNames ? "server" : "client"), versions: \(hasVersions), stamps: \(hasStamps), pull: \(pull), "
            + "push: \(push), page: \(pageSize), records in answers: \(answersWithRecord), in refusals: "
            + "\(conflictsTellRecord), merge: \(merges), conflict: \(conflict), clocks: \(clocks), troubles: \(troubles)"
    }
}
