import Larder
import LarderFoundation
import LarderSystem

@testable import LarderSync

/// Judges a history after everything has come to rest, from what users did, what they were told and what the services did. It
/// asks nothing of the planner.
struct WorldJudge {
    let devices: [WorldDevice]
    let network: WorldNetwork
    let writes: [WorldPlay.Write]

    func violations() async throws -> [String] {
        let state = network.state.withLock { $0 }
        var found = state.services.sorted { $0.key < $1.key }.flatMap(\.value.mistakes)
        let here = state.services["here"]?.shown ?? []
        for device in devices {
            let shown = try await device.shown().map { String(decoding: $0.value.canonical, as: UTF8.self) }
            if shown != here { found.append("\(device.number) shows \(shown), the service has \(here)") }
            let books = try await device.books()
            if books.unaccounted != 0 || books.pending != 0 { found.append("\(device.number) has the books \(books)") }
            found += try await lost(on: device, state)
        }
        found += overwritten(in: state.services["here"]?.applied ?? [])
        for (name, service) in state.services.sorted(by: { $0.key < $1.key }) {
            found += repeated(in: service.applied, name) + disordered(in: service.applied, name)
            // A change that makes a record anew, which another service does not have, brings all of it.
            if network.rules.conflict == "client-wins" { continue }
            found += writes.filter { $0.source != name && $0.kind != .delete && !bringing($0, service.applied).isEmpty }
                .map { "\($0.token) for \($0.source) came to \(name)" }
        }
        return found
    }

    // MARK: Nothing acknowledged is lost

    private func lost(on device: WorldDevice, _ state: WorldNetwork.State) async throws -> [String] {
        let letters = try await device.letters()
        let (told, names) = device.state.withLock { ($0.told, $0.names) }
        func name(_ id: String) -> String { names[id] ?? id }
        let own = writes.filter { $0.device == device.number }
        let applied = state.services.flatMap(\.value.applied) + state.forgotten
        var found: [String] = []
        for write in own where write.isAcknowledged && !write.isDiscarded {
            let id = name(write.id)
            let isTold = told.contains { told in
                guard let toldID = told.id, name(toldID) == id, told.write >= write.number else { return false }
                return switch told.kind {
                case .conflict, .overtaken, .rejected, .expired: true
                default: false
                }
            }
            let isReplaced = own.contains { later in
                later.number > write.number && name(later.id) == id
                    && (later.kind == .delete || later.field == write.field || write.kind == .delete)
            }
            if isTold || isReplaced { continue }
            if write.kind == .delete {
                let isGone =
                    state.services[write.source]?.records[id] == nil
                    || applied.contains {
                        $0.id == id && $0.change.kind == "delete" && $0.change.device == write.device
                    }
                let isLetter = letters.contains { name($0.id) == id }
                if !isGone && !isLetter && !isMadeAnew(after: write, id, own, applied) {
                    found.append("the deletion of \(id) is lost")
                }
                continue
            }
            let isApplied = applied.contains { $0.change.body[write.field]?.string == write.token }
            let isLetter = letters.contains { letter in
                letter.shown?[write.field]?.string == write.token
                    || letter.write.patch.changes.contains {
                        $0.after?.string == write.token || $0.after?[write.field]?.string == write.token
                    }
            }
            if !isApplied && !isLetter { found.append("\(write.token) of \(id) by \(device.number) is lost") }
        }
        return found
    }

    /// Returns whether a record that is there is another one than the user has deleted: one that somebody made later, or one of
    /// the same id as a record of the user's that was never sent.
    private func isMadeAnew(
        after deletion: WorldPlay.Write, _ id: String, _ own: [WorldPlay.Write], _ applied: [WorldService.Applied]
    ) -> Bool {
        func isApplied(_ write: WorldPlay.Write) -> Bool {
            applied.contains { $0.id == id && $0.change.body["title"]?.string == write.token }
        }
        let made = writes.filter { $0.kind == .create && $0.number > deletion.number }
        let former = own.last { $0.kind == .create && $0.id == id && $0.number < deletion.number }
        // A deletion that arrives between another's and a new record of the same id finds nothing to delete.
        let kinds = applied.filter { $0.id == id }.map(\.change.kind)
        let isMadeAgain = kinds.firstIndex(of: "delete").map { kinds[$0...].contains("create") } ?? false
        return made.contains(where: isApplied) || isMadeAgain || former.map { !isApplied($0) } ?? false
    }

    // MARK: Once, and in order

    /// The changes that brought a token to a service. One that makes a record anew brings what it was.
    private func bringing(_ write: WorldPlay.Write, _ applied: [WorldService.Applied]) -> [WorldService.Applied] {
        applied.filter { change in
            change.change.device == write.device && change.change.body[write.field]?.string == write.token
        }
    }

    private func repeated(in applied: [WorldService.Applied], _ service: String) -> [String] {
        writes.compactMap { write in
            let changes = bringing(write, applied)
            // Of a record that was deleted elsewhere, a later change may bring all.
            if changes.count < 2
                || changes.dropFirst().allSatisfy({ $0.change.kind == "create" && $0.id == changes[0].id })
            {
                return nil
            }
            return "\(write.token) came \(changes.count) times to \(service)"
        }
    }

    /// Changes of others that were overwritten by users who have not seen them, although the service's state wins.
    private func overwritten(in applied: [WorldService.Applied]) -> [String] {
        let rules = network.rules
        guard rules.hasVersions, rules.conflict == "server-wins" else { return [] }
        if rules.hasLogouts || rules.hasOtherSource || rules.hasResets { return [] }
        return applied.filter { $0.change.kind == "update" }.flatMap { change in
            ["title", "body"].compactMap { field in
                guard change.change.body[field] != nil, let former = change.former?[field]?.string else { return nil }
                let isSeen = writes.contains {
                    $0.device == change.change.device && $0.field == field && ($0.seen == former || $0.token == former)
                }
                return isSeen ? nil : "\(change.change.device) has overwritten \(former) of \(change.id) unseen"
            }
        }
    }

    private func disordered(in applied: [WorldService.Applied], _ service: String) -> [String] {
        var found: [String] = []
        var last: [String: Int] = [:]
        for change in applied {
            let own = writes.filter { write in
                write.device == change.change.device && change.change.body[write.field]?.string == write.token
            }
            for write in own {
                let place = "\(write.device) \(change.id) \(write.field)"
                if write.number < last[place] ?? 0, change.change.kind != "create" {
                    found.append("\(write.token) came to \(service) after a later change")
                }
                last[place] = max(last[place] ?? 0, write.number)
            }
        }
        return found
    }
}
