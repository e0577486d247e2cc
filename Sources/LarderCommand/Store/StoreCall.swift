import LarderFoundation
import Larder

/// A checked call of `larder store`.
struct StoreCall {
    let subcommand: StoreSubcommand
    /// The name of the resource; nil for all.
    let resource: String?
    /// The key, the digest or the first digits of it.
    let entry: String?
    /// The selection of several entries; nil if there is none.
    let selection: Selection?
    let policies: URL
    let cache: URL
    let isJSON: Bool
    let arguments: Arguments

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        let names = StoreSubcommand.allCases.map(\.rawValue)
        guard let name = arguments.operands.first else {
            throw UsageError(message: "store takes one of \(names.joined(separator: ", "))")
        }
        guard let subcommand = StoreSubcommand(rawValue: name) else {
            let meant = closestName(to: name, among: names).map { " (did you mean '\($0)'?)" } ?? ""
            throw UsageError(
                message: "store has no '\(name)'\(meant); it takes one of \(names.joined(separator: ", "))")
        }
        self.subcommand = subcommand
        let operands = Array(arguments.operands.dropFirst())
        let most = (subcommand.entryOperand == .none ? 1 : 2)
        let least = (subcommand.needsResource ? 1 : 0) + (subcommand.entryOperand == .required ? 1 : 0)
        guard least...most ~= operands.count else {
            throw UsageError(message: "it is called 'store \(subcommand.usage)'")
        }
        for option in StoreSubcommand.ownOptions.subtracting(subcommand.options).sorted()
        where arguments.has(option) || arguments.value(of: option) != nil {
            throw UsageError(message: "--\(option) does not go with 'store \(name)'")
        }
        isJSON = try arguments.format(["text", "json"]) == "json"
        let place = try operands.first.map { operand throws(UsageError) in try arguments.resource(operand) }
        (resource, policies) = (place?.name, place?.folder ?? arguments.policies)
        entry = operands.count > 1 ? operands[1] : nil
        selection = try Self.selection(arguments)
        switch subcommand {
        case .clear where selection == nil, .expire where selection == nil && entry == nil:
            let key = subcommand == .expire ? "KEY, DIGEST, " : ""
            throw UsageError(message: "store \(name) needs \(key)--scope, --no-scope, --tag or --all")
        case .expire where selection != nil && entry != nil:
            throw UsageError(message: "an entry and --scope, --no-scope, --tag or --all exclude each other")
        case .get where arguments.has("payload") && (isJSON || arguments.value(of: "output") != nil):
            throw UsageError(message: "--payload goes neither with JSON nor with --output")
        default: break
        }
        guard let cache = arguments.cache(for: policies) else {
            throw UsageError(message: "store needs --cache DIR: this user has no folder for caches")
        }
        self.cache = cache
    }

    private static func selection(_ arguments: Arguments) throws(UsageError) -> Selection? {
        var selections: [Selection] = []
        if let scope = try arguments.scope() { selections.append(.scope(scope)) }
        if arguments.has("no-scope") { selections.append(.scope(nil)) }
        if let tag = arguments.value(of: "tag") { selections.append(.tag(tag)) }
        if arguments.has("all") { selections.append(.all) }
        if selections.count > 1 {
            throw UsageError(message: "--scope, --no-scope, --tag and --all exclude each other")
        }
        return selections.first
    }
}
