import LarderFoundation
import Larder

/// The memory that entries take, beside the weights that count in a store's capacity.
enum ResidentBench {
    private static let entries = 200_000

    static func figures(_ harness: Harness) async throws -> [Figure] {
        var figures: [Figure] = []
        for size in [100, 1_000] {
            let name = "entries of \(size) bytes"
            guard harness.includes("memory, resident: \(name)"), let before = residentSize() else { continue }
            let bench = try await BenchPantry(store: #"{ "use": "memory", "capacity": "1GB" }"#)
            let start = SystemWorld().now
            for number in 0..<entries {
                let key = Key(resource: "feed", parameters: ["id": "\(number &+ 1_000_000)"])
                _ = try await bench.store.write(
                    Entry(Data(repeating: 7, count: size), Metadata(fetchedAt: start)), for: key)
            }
            let grown = (residentSize() ?? 0) - before
            let charged = await bench.store.statistics().bytes
            figures.append(
                Figure(
                    group: "memory, resident", name: "\(name), each", median: Double(grown) / Double(entries),
                    unit: .bytes))
            figures.append(
                Figure(
                    group: "memory, resident", name: "\(name), ÷ charged", median: Double(grown) / Double(charged),
                    unit: .times, goal: 1.2))
        }
        return figures
    }
}
