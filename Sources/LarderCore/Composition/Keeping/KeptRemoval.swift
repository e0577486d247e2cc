/// A removal from the lists of kept requests.
enum KeptRemoval: Sendable {
    /// These lines of a resource's list.
    case lines(Set<KeptRequests.Line>, of: String)
    /// The requests that a clearing selects; nil for all resources.
    case selection(Selection, of: String?)

    /// Whether it concerns a request on the list.
    ///
    /// - Parameter line: the line of the request. A removal of lines knows it by nothing else.
    func concerns(_ line: KeptRequests.Line, _ request: Request) -> Bool {
        switch self {
        case .lines(let lines, let resource): request.key.resource == resource && lines.contains(line)
        case .selection(let selection, let resource):
            (resource == nil || request.key.resource == resource) && selection.concerns(request.key, tags: [])
        }
    }

    /// Returns a test for the lines of a download; nil if it concerns none of them.
    func lines(of download: KeptDownload) -> ((KeptRequests.Line) -> Bool)? {
        switch self {
        case .lines(let lines, let resource): download.resource.name == resource ? { lines.contains($0) } : nil
        case .selection(_, let resource?) where resource != download.resource.name: nil
        case .selection(.tag, _): nil
        case .selection(.all, _): { _ in true }
        case .selection(.scope(let scope), _):
            scope.map { Array($0.utf8) } == download.scope.map { Array($0.utf8) } ? { _ in true } : nil
        case .selection(.key(let key), _): { KeptRequests.request($0)?.key == key }
        }
    }
}

extension KeptDownload {
    /// Tells that requests that waited were cancelled.
    func cancelled(_ backlog: KeptBacklog) {
        var backlog = backlog
        while let request = backlog.popFirst() { observer(request, .cancelled) }
    }
}
