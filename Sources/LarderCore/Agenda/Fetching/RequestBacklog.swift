/// Requests that wait for their turn. Those of a list that is kept are lines of the list, which take little memory.
struct RequestBacklog: Sendable {
    private var requests: ArraySlice<Request> = []
    private var lines: ArraySlice<KeptRequests.Line> = []

    var isEmpty: Bool { requests.isEmpty && lines.isEmpty }

    init(_ requests: [Request] = []) { self.requests = requests[...] }

    /// - Parameter lines: lines of a list. Those without a request are left out.
    init(lines: [KeptRequests.Line]) { self.lines = lines[...] }

    var all: [Request] { requests + lines.compactMap(KeptRequests.request) }

    mutating func popFirst() -> Request? {
        if let request = requests.popFirst() { return request }
        while let line = lines.popFirst() { if let request = KeptRequests.request(line) { return request } }
        return nil
    }

    /// Adds a request behind the others.
    mutating func append(_ request: Request) { requests.append(request) }

    /// Removes the selected requests, or all if `isSelected` is nil. Asks about each once.
    ///
    /// - Returns: the requests.
    mutating func remove(where isSelected: ((Request) -> Bool)?) -> [Request] {
        var (left, removed): (RequestBacklog, [Request]) = (RequestBacklog(), [])
        for request in requests {
            if isSelected?(request) ?? true { removed.append(request) } else { left.requests.append(request) }
        }
        for line in lines {
            guard let request = KeptRequests.request(line) else { continue }
            if isSelected?(request) ?? true { removed.append(request) } else { left.lines.append(line) }
        }
        if !removed.isEmpty { self = left }
        return removed
    }

    /// Moves the requests that ask for the same instance to another backlog. Leaves out those that are lines.
    ///
    /// - Returns: whether there are any.
    mutating func move(_ request: Request, to other: inout RequestBacklog) -> Bool {
        let kept = request.asKept
        let equal = requests.filter { $0.key == kept.key && $0.asKept == kept }
        if equal.isEmpty { return false }
        requests.removeAll { $0.key == kept.key && $0.asKept == kept }
        other.requests += equal
        return true
    }
}
