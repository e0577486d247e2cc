import LarderFoundation
import Larder
import LarderReports

// Checking stores, and counting their entries.
extension OpenStores {
    /// Reads all entries of a resource. Returns false if damaged ones are left.
    func verify(_ resource: Resource<Data>) async throws -> Bool {
        let progress = Progress(terminal, "store verify")
        let result: StoreVerification
        do {
            defer { progress.end() }
            result = try await resource.verify { progress.show($0, "\(Int($0 * 100)) % checked") }
        }
        if call.isJSON {
            let json: JSON = [
                "resource": .string(resource.name), "checked": .int(result.checked), "damaged": .int(result.damaged),
                "removed": .int(result.removed), "left": .int(result.left),
            ]
            terminal.print(json.text())
        } else {
            let checked = counted(result.checked, one: "entry", many: "entries")
            terminal.print("\(resource.name): \(checked) checked, \(Self.verdict(result))")
        }
        return result.left == 0
    }

    private static func verdict(_ result: StoreVerification) -> String {
        if result.damaged == 0 { return "none is damaged" }
        if result.left > 0 { return "only \(result.removed) of \(result.damaged) damaged entries could be removed" }
        return "\(counted(result.damaged, one: "damaged entry", many: "damaged entries")) removed"
    }

    /// Shows the number and size of the entries of some resources.
    func showStatistics(of names: [String]) async throws -> Bool {
        var rows = [["resource", "store", "entries", "size"]]
        var list: [JSON] = []
        var isWhole = true
        for name in names {
            guard let policy = pantry.policy(of: name) else { continue }
            let store = policy.store?.storeNames ?? "none"
            let isPersistent = isPersistent(policy)
            // A store that cannot be read counts as empty.
            do { _ = try await pantry.resource(name).list(after: nil, most: 1) } catch let error as StoreError {
                if !error.isUnsupported {
                    terminal.complain("\(explained(error, of: name))")
                    isWhole = false
                    continue
                }
            }
            let statistics = try await pantry.resource(name).statistics()
            rows.append([
                name.printable, isPersistent ? store : store + ", not persistent",
                isPersistent ? "\(statistics.entries)" : "–",
                isPersistent ? UInt64(max(0, statistics.bytes)).weight : "–",
            ])
            list.append([
                "resource": .string(name), "store": .string(store), "persistent": .bool(isPersistent),
                "entries": isPersistent ? .int(statistics.entries) : .null,
                "bytes": isPersistent ? .int(statistics.bytes) : .null,
            ])
        }
        if call.isJSON {
            terminal.print((["resources": .list(list)] as JSON).text())
        } else {
            for line in Table(rows, left: 2).lines { terminal.print(line) }
        }
        return isWhole
    }
}
