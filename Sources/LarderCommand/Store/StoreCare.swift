import LarderFoundation
import Larder

// Checking stores, counting their entries and giving space back.
extension OpenStores {
    /// Checks the store of a resource. Returns false if damage is left.
    func verify(_ resource: Resource<Data>) async throws -> Bool {
        let progress = Progress(terminal, "store verify")
        let result: StoreVerification
        do {
            defer { progress.end() }
            result = try await resource.verify(repairing: call.arguments.has("repair")) { share in
                progress.show(share, "\(Int(share * 100)) % checked")
            }
        }
        if call.isJSON {
            terminal.print(Self.json(result, resource.name).text())
        } else {
            for line in Self.lines(result, resource.name) { terminal.print(line) }
        }
        return result.left == 0
    }

    private static func json(_ result: StoreVerification, _ name: String) -> JSON {
        [
            "resource": .string(name), "checked": .int(result.checked), "damaged": .int(result.damaged),
            "leftovers": .int(result.leftovers), "faults": .list(result.faults.map { .string($0) }),
            "repaired": .int(result.repaired), "left": .int(result.left),
            "unchecked": .list(result.unchecked.map { .string($0) }),
        ]
    }

    private static func lines(_ result: StoreVerification, _ name: String) -> [String] {
        var lines = ["\(name): \(count(result.checked, one: "entry", several: "entries")) checked"]
        if result.damaged > 0 {
            lines.append("  " + count(result.damaged, one: "damaged entry", several: "damaged entries"))
        }
        if result.leftovers > 0 {
            let noun = count(result.leftovers, one: "file or record", several: "files or records")
            lines.append("  \(noun) of no entry")
        }
        lines += result.faults.map { "  " + $0.printable }
        for tier in result.unchecked { lines.append("  '\(tier.printable)' cannot list its entries: not checked") }
        let found = result.damaged + result.leftovers + result.faults.count
        if found == 0 {
            lines[0] += ", nothing is damaged"
        } else if result.left == 0 {
            lines.append("all of that is repaired")
        } else {
            lines.append("not repaired: 'larder store verify \(name) --repair' removes what is damaged")
        }
        return lines
    }

    /// Shows the number and size of the entries of some resources.
    func showStatistics(of names: [String]) async throws -> Bool {
        var rows = [["resource", "store", "entries", "size"]]
        var list: [JSON] = []
        for name in names {
            guard let policy = pantry.policy(of: name) else { continue }
            let store = policy.store?.storeNames ?? "none"
            let isPersistent = isPersistent(policy)
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
        return true
    }

    /// Gives back the space that a store does not need.
    func compact(_ resource: Resource<Data>) async throws -> Bool {
        try await resource.compact()
        if call.isJSON {
            terminal.print((["resource": .string(resource.name), "done": "compacted"] as JSON).text())
        } else {
            terminal.print("\(resource.name): compacted")
        }
        return true
    }

    private static func count(_ number: Int, one: String, several: String) -> String {
        "\(number) \(number == 1 ? one : several)"
    }
}
