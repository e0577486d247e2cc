import Larder
import LarderSimulation

extension SettingType where Value == Story.Network {
    static var network: SettingType<Story.Network> {
        .object(
            "a state of the network",
            Setting("from", .moment, default: .zero, help: "When it begins"),
            Setting(
                "is", .choice(NetworkState.Reach.allCases.map(\.rawValue)), help: "What the device knows"),
            Setting(
                "costly", .flag, default: false,
                help: "Whether it is a mobile network that costs by use, on which the user asked to save data")
        ) { _, _, from, reach, isCostly in
            Story.Network(NetworkState.Reach(rawValue: reach) ?? .unknown, isCostly: isCostly, from: from)
        }
    }
}

extension SettingType where Value == [Story.StoreFault] {
    /// The faults of single operations that one of all operations stands for.
    static var storeFault: SettingType<[Story.StoreFault]> {
        .object(
            "a fault of the stores",
            Setting(
                "tier", optional: .int(1...100),
                help: "Which tier has it, counted from 1, the fastest; without it, every tier outside the memory"),
            Setting(
                "operations", optional: .choice(Story.StoreFault.Operations.allCases.map(\.rawValue)),
                help: "Which operations have it; without it, all"),
            Setting("fails", .flag, default: false, help: "They fail"),
            Setting("hangs", .flag, default: false, help: "They never end"),
            Setting("damaged", .flag, default: false, help: "Payloads that are read have a wrong byte"),
            Setting("takes", optional: .moment, help: "They take so long, and work")
        ) { node, reading, tier, operations, fails, hangs, isDamaged, takes in
            let faults: [FaultyStore.Fault?] = [
                fails ? .fails : nil, hangs ? .hangs : nil, isDamaged ? .corrupts : nil, takes.map { .takes($0) },
            ]
            let given = faults.compactMap { $0 }
            guard let fault = given.first, given.count == 1 else {
                reading.report(
                    given.isEmpty ? "what is wrong with the store is not said" : "a store has one fault at a time",
                    at: node.position, expected: "one of 'fails', 'hangs', 'damaged', 'takes'")
                return nil
            }
            return Story.StoreFault.Operations.allCases
                .filter { operations == nil || operations == $0.rawValue }
                .map { Story.StoreFault($0, fault, tier: tier) }
        }
    }
}
