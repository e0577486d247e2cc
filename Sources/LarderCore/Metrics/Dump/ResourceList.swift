/// The resources of a dump, which are read one after the other. Only the tree of one is in memory at a time, because a tree
/// takes many times the memory of its text.
struct ResourceList {
    /// The largest number of JSON values in a resource, and in the rest of a dump.
    static let mostValues = 500_000
    /// The largest number of resources in a dump, of all their revisions, and of unusable parts.
    static let mostResources = 10_000
    /// The largest number of all periods in a dump, and of all kinds of faults.
    static let mostPeriods = 100_000

    /// The largest number of counts in all periods, windows and sketches, of which few characters can tell many.
    static let mostNumbers = 2_000_000

    private let declared: Node?
    /// The resources so far, or the reason why one cannot be read.
    private(set) var resources: Result<[ResourceDump], MetricsDump.Unreadable> = .success([])
    /// Whether no declarations followed the resources, which would have needed them.
    private(set) var isDeclaredBefore = true

    /// Creates an empty list.
    ///
    /// - Parameter declared: the declarations of a dump that has them after the resources.
    init(declared: Node? = nil) { self.declared = declared }

    /// Reads the resources in the text of a dump. Returns the rest of the dump.
    ///
    /// - Throws: ``MetricsDump/Unreadable`` if the text is not JSON, or has too many values.
    mutating func parse(_ bytes: [UInt8]) throws(MetricsDump.Unreadable) -> Node {
        var reading = Reading(list: self)
        let root: Node
        do {
            root = try JSONParser.parse(
                SourceText(name: "", bytes: bytes), mostValues: Self.mostValues,
                passing: .init("resources") { reading.add($0, before: $1) })
        } catch {
            throw MetricsDump.Unreadable(
                error.isLimit
                    ? "more than \(Self.mostValues) JSON values in a resource or outside of the resources"
                    : "not JSON: \(error.message)")
        }
        let names = (root.members ?? []).map(\.name)
        if let list = names.firstIndex(of: "resources"), let place = names.firstIndex(of: "declared"), declared == nil {
            isDeclaredBefore = place < list
        }
        resources = reading.result
        return root
    }

    /// The state while the text is read.
    private struct Reading {
        let list: ResourceList
        private var known: DumpDeclarations?
        private var resources: [ResourceDump] = []
        private var fault: MetricsDump.Unreadable?

        init(list: ResourceList) { self.list = list }

        var result: Result<[ResourceDump], MetricsDump.Unreadable> {
            fault.map { .failure($0) } ?? .success(resources)
        }

        mutating func add(_ node: Node, before members: [Node.Member]) {
            guard fault == nil else { return }
            do throws(MetricsDump.Unreadable) {
                var known: DumpDeclarations
                if let own = self.known { known = own } else { known = try declarations(members) }
                // Without a second reference, it is not copied.
                self.known = nil
                try known.count(1, "resources", most: ResourceList.mostResources)
                resources.append(try ResourceDump(reading: node, &known))
                self.known = known
            } catch {
                fault = error
            }
        }

        private func declarations(_ members: [Node.Member]) throws(MetricsDump.Unreadable) -> DumpDeclarations {
            let node = list.declared ?? members.first { $0.name == "declared" }?.value
            return try DumpDeclarations(node)
        }
    }
}
