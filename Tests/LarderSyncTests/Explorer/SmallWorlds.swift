import Larder

@testable import LarderSync

/// The small worlds that are explored.
enum SmallWorlds {
    static let all: [ModelRules] = clientIDs + serverIDs + conflicts + deletions + pulls + accounts

    /// Records that devices name.
    static let clientIDs: [ModelRules] = [
        ModelRules(name: "same field, no versions", scripts: [[.set(0, "x")], [.set(0, "x")]]),
        ModelRules(name: "same field, versions", hasVersions: true, scripts: [[.set(0, "x")], [.set(0, "x")]]),
        ModelRules(
            name: "edit while sent", hasVersions: true, scripts: [[.set(0, "x"), .set(0, "y"), .set(0, "x")], []]),
        ModelRules(
            name: "edit while sent, not merged", answersWithRecord: false, merges: false,
            scripts: [[.set(0, "x"), .set(0, "y")], [.set(0, "y")]]),
        ModelRules(name: "create and edit", hasVersions: true, scripts: [[.create(1), .set(1, "y")], [.set(1, "x")]]),
        ModelRules(name: "both create", scripts: [[.create(1), .set(1, "x")], [.create(1)]]),
        ModelRules(
            name: "no keys", hasVersions: true, knowsKeys: false, conflictsTellRecord: false,
            scripts: [[.create(1), .set(1, "y")], [.set(0, "x")]]),
        ModelRules(
            name: "answers without records", hasVersions: true, answersWithRecord: false,
            scripts: [[.set(0, "x"), .set(0, "x")], [.set(0, "y")]]),
        ModelRules(
            name: "answers and conflicts without records", hasVersions: true, answersWithRecord: false,
            conflictsTellRecord: false, scripts: [[.set(0, "x")], [.set(0, "x")]]),
        ModelRules(name: "two records", scripts: [[.set(0, "x"), .set(1, "x")], [.set(0, "y")]]),
    ]

    /// Records that the service names.
    static let serverIDs: [ModelRules] = [
        ModelRules(name: "server ids", ids: .server, scripts: [[.create(1), .set(1, "x")], [.set(1, "y")]]),
        ModelRules(name: "create and delete", ids: .server, scripts: [[.create(1), .set(1, "x"), .delete(1)], []]),
        ModelRules(
            name: "reference", ids: .server, initial: 0,
            scripts: [[.create(0), .createReferring(1, to: 0), .refer(0, to: 1)], []]),
        ModelRules(
            name: "reference to a refused create", ids: .server, initial: 1,
            scripts: [[.createBad(1), .refer(0, to: 1), .set(0, "y")], []]),
        ModelRules(
            name: "refused create is kept", ids: .server, onReject: .keep,
            scripts: [[.createBad(1), .set(1, "x"), .delete(1)], [.set(0, "x")]]),
        ModelRules(name: "server ids, deleted elsewhere", ids: .server, scripts: [[.create(1)], [.delete(1)]]),
        ModelRules(
            name: "server ids, full pulls", ids: .server, hasVersions: true, pull: .all,
            scripts: [[.create(1), .set(1, "x")], [.set(1, "x")]]),
    ]

    /// Rules for conflicts.
    static let conflicts: [ModelRules] = [
        ModelRules(
            name: "last write wins, wrong clock", hasVersions: true, conflict: LastWriteWins(), hasStamps: true,
            clocks: [0, -86_400_000], scripts: [[.set(0, "x")], [.set(0, "x"), .set(0, "y")]]),
        ModelRules(
            name: "last record wins", hasVersions: true, answersWithRecord: false,
            conflict: LastWriteWins(isAboutRecords: true), hasStamps: true, clocks: [86_400_000, 0],
            scripts: [[.set(0, "x"), .set(0, "y")], [.set(0, "y")]]),
        ModelRules(
            name: "server wins", hasVersions: true, conflict: ServerWins(),
            scripts: [[.set(0, "x"), .set(0, "y")], [.set(0, "x")]]),
        ModelRules(
            name: "client wins", hasVersions: true, conflict: ClientWins(),
            scripts: [[.set(0, "x")], [.delete(0), .create(0)]]),
        ModelRules(
            name: "ask", hasVersions: true, pull: .token, conflict: AskApp(),
            scripts: [[.set(0, "x"), .set(0, "x")], [.set(0, "x")]]),
        ModelRules(
            name: "ask about a deletion", hasVersions: true, pull: .token, conflict: AskApp(),
            scripts: [[.delete(0)], [.set(0, "x")]]),
        ModelRules(
            name: "union of lists", hasVersions: true, pull: .token, conflict: LastWriteWins(isAboutRecords: true),
            hasStamps: true, unions: true, scripts: [[.add(0, "b"), .set(0, "x")], [.remove(0, "a")]]),
        ModelRules(
            name: "refused change", hasVersions: true, scripts: [[.setBad(0), .set(0, "y")], [.set(0, "x")]]),
        ModelRules(
            name: "refused change is kept", pull: .token, merges: false, onReject: .keep,
            scripts: [[.setBad(0), .set(0, "y")], [.set(0, "x")]]),
    ]

    /// Deleted records.
    static let deletions: [ModelRules] = [
        ModelRules(name: "delete and edit", hasVersions: true, scripts: [[.set(0, "x")], [.delete(0)]]),
        ModelRules(
            name: "delete and edit, stamps", hasVersions: true, answersWithRecord: false, hasStamps: true,
            clocks: [0, 86_400_000], scripts: [[.set(0, "x"), .set(0, "y")], [.delete(0)]]),
        ModelRules(name: "delete and create", scripts: [[.delete(0), .create(0)], [.set(0, "x")]]),
        ModelRules(name: "delete twice", pull: .token, scripts: [[.delete(0), .create(0)], [.delete(0)]]),
        ModelRules(
            name: "put and undo", hasVersions: true, merges: false,
            scripts: [[.put(0), .set(0, "y"), .undo(0)], [.set(0, "x")]]),
    ]

    /// Ways to pull.
    static let pulls: [ModelRules] = [
        ModelRules(name: "full pulls", pull: .all, initial: 2, scripts: [[.set(0, "x"), .create(2)], [.delete(1)]]),
        ModelRules(
            name: "full pulls, answers without records", pull: .all,
            scripts: [[.set(0, "x"), .create(1)], [.delete(0)]]),
        ModelRules(name: "token", pull: .token, initial: 2, scripts: [[.set(0, "x"), .set(1, "x")], [.set(0, "y")]]),
        ModelRules(
            name: "token, answers without records", answersWithRecord: false, pull: .token,
            scripts: [[.set(0, "x"), .set(0, "x")], [.delete(0)]]),
        ModelRules(
            name: "increasing versions", hasVersions: true, versionsIncrease: true, pull: .token,
            scripts: [[.set(0, "x"), .set(0, "y")], [.set(0, "x")]]),
        ModelRules(
            name: "cursor that leads back", pull: .since, scripts: [[.set(0, "x")], []], faults: [.sameCursor]),
        ModelRules(
            name: "pages of one time", pull: .since, pagesAreOfOneTime: true, initial: 2,
            scripts: [[.set(0, "x")], [.set(1, "x"), .set(0, "y")]], mostCrashes: 0),
        ModelRules(
            name: "full pages of one time", pull: .all, pagesAreOfOneTime: true,
            scripts: [[.create(1), .set(0, "x")], [.delete(0)]], mostCrashes: 0),
        ModelRules(
            name: "lost answer in a pull", pull: .since, initial: 2,
            scripts: [[.set(0, "x")], [.set(1, "x"), .set(0, "x")]], faults: [.loseAnswer], mostCrashes: 0),
        ModelRules(
            name: "lost answer in a pull by token", answersWithRecord: false, pull: .token, initial: 2,
            scripts: [[.set(0, "x")], [.set(1, "x"), .set(0, "x")]], faults: [.loseAnswer], mostCrashes: 0),
        ModelRules(
            name: "empty answer to a full pull", pull: .all, pageSize: 30, initial: 24, scripts: [[.set(0, "x")]],
            faults: [.emptyPage]),
    ]

    /// Accounts and policies.
    static let accounts: [ModelRules] = [
        ModelRules(
            name: "signed out in between", hasVersions: true, scripts: [[.set(0, "x"), .create(1)], [.set(0, "x")]],
            mostFaults: 0, mostCrashes: 0, mostLogouts: 1),
        ModelRules(
            name: "signed out, server ids", ids: .server, scripts: [[.create(1), .set(0, "x")], [.set(0, "y")]],
            mostFaults: 1, mostCrashes: 0, mostLogouts: 1),
        ModelRules(
            name: "busy service", hasVersions: true, scripts: [[.set(0, "x"), .set(0, "y")], [.set(0, "x")]],
            faults: [.later, .signedOut], mostFaults: 2),
        ModelRules(
            name: "another edition", hasVersions: true, pull: .token,
            scripts: [[.set(0, "x"), .create(1)], [.set(0, "y")]],
            mostFaults: 0, raisesEdition: true),
    ]

    /// Worlds that only find planted mistakes faster.
    static let forMistakes: [ModelRules] = [
        ModelRules(name: "two records, tried again", initial: 2, scripts: [[.set(0, "x"), .set(1, "x")], []]),
        ModelRules(
            name: "token, edited in between", pull: .token, initial: 2,
            scripts: [[.set(0, "x")], [.set(1, "x"), .set(0, "y"), .set(0, "y")]], mostFaults: 0, mostCrashes: 0),
    ]
}
