import Larder

@testable import LarderSync

/// A small world: how the service behaves, what the policy says, and what the users do.
struct ModelRules: Sendable {
    enum Pull: Sendable { case all, since, token }

    var name: String
    var ids = SyncRules.IDs.client
    var hasVersions = false
    var versionsIncrease = false
    var knowsKeys = true
    /// Whether the service answers a change with the record.
    var answersWithRecord = true
    /// Whether the service answers a conflict with the record.
    var conflictsTellRecord = true
    var pull = Pull.since
    var pageSize = 1
    /// Whether all pages of a pull show the service as it was at the first one.
    var pagesAreOfOneTime = false
    var conflict: any ConflictRule = MergeFields()
    var hasStamps = false
    var unions = false
    var merges = true
    var onReject = SyncRules.OnReject.revert
    /// The clocks of the devices, less the right time, in milliseconds.
    var clocks: [Int64] = [0, 0]
    /// The records that the service has at the beginning, and every device too.
    var initial = 1
    /// The actions of the user of each device, in order.
    var scripts: [[ModelWrite]]
    var faults: Set<ModelFault> = [.loseRequest, .loseAnswer, .double, .delay]
    /// The number of faults and of crashes in one history.
    var mostFaults = 1
    var mostCrashes = 1
    var mostLogouts = 0
    var raisesEdition = false

    var idPath: [String] { ["id"] }

    func planner() -> SyncPlanner {
        SyncPlanner(
            SyncRules(
                idPath: idPath, ids: ids, versionPath: hasVersions ? ["rev"] : nil, versionsIncrease: versionsIncrease,
                stamp: hasStamps ? StampPlace(path: ["t"], format: .milliseconds) : nil, conflict: conflict,
                unions: unions ? [["tags"]] : [], merges: merges, onReject: onReject, source: "s"))
    }
}

/// A change that a user makes. Records are named by their places in the list of all records.
enum ModelWrite: Hashable, Sendable {
    case set(Int, String)
    /// A change that the service refuses.
    case setBad(Int)
    case create(Int)
    /// A create that the service refuses.
    case createBad(Int)
    /// A create that contains the id of another record.
    case createReferring(Int, to: Int)
    case refer(Int, to: Int)
    case delete(Int)
    /// Puts a record whose field `y` is missing.
    case put(Int)
    case add(Int, String)
    case remove(Int, String)
    /// Takes back the last write of a record, if it was never sent.
    case undo(Int)

    var record: Int {
        switch self {
        case .set(let record, _), .setBad(let record), .create(let record), .createBad(let record),
            .createReferring(let record, _), .refer(let record, _), .delete(let record), .put(let record),
            .add(let record, _), .remove(let record, _), .undo(let record):
            record
        }
    }
}

/// A fault of the network or the service.
enum ModelFault: String, Hashable, Sendable, CaseIterable {
    /// The service never gets the request.
    case loseRequest
    /// The device never gets the answer.
    case loseAnswer
    /// The service gets the request a second time, at any time.
    case double
    /// The service gets the request when the device has given up.
    case delay
    /// The service asks to come later.
    case later
    /// Nobody is signed in.
    case signedOut
    /// A page is empty and the last one, whatever the service has.
    case emptyPage
    /// A page leads back to itself.
    case sameCursor
}
