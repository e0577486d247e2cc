import Larder

extension JSONPages {
    /// Returns an answer with a page.
    ///
    /// - Parameter members: what else is in it, by its place.
    func answer(_ page: ServicePage, id: JSONPointer, also members: [(JSONPointer?, JSONText)] = []) -> JSONText {
        var rows = page.records
        if let tombstone, deleted == nil {
            rows += page.deleted.map { name in
                JSONText.object.placing(name, at: id).placing(JSONText(.bool(true)), at: tombstone)
            }
        }
        if items.steps.isEmpty { return JSONText(list: rows) }
        var answer = JSONText.object.placing(JSONText(list: rows), at: items)
        if let deleted { answer = answer.placing(JSONText(list: page.deleted), at: deleted) }
        for (place, value) in members {
            if let place { answer = answer.placing(value, at: place) }
        }
        return answer
    }

    /// The member of an answer that leads to the next page.
    func cursor(after page: ServicePage) -> (JSONPointer?, JSONText) {
        (next, page.next.map { JSONText(string: String($0)) } ?? .null)
    }
}

extension JSONText {
    /// Returns the text with a value at a place. Objects on the way are made.
    func placing(_ value: JSONText, at place: JSONPointer) -> JSONText {
        guard let first = place.steps.first else { return value }
        let rest = JSONPointer(steps: Array(place.steps.dropFirst()))
        let inner = self[[first]].map { $0.kind == .object ? $0 : .object } ?? .object
        return (kind == .object ? self : .object).setting([first], to: inner.placing(value, at: rest))
    }
}

extension AllPuller {
    func dialect(id: JSONPointer) -> PullDialect? {
        PullDialect { [cursor, size] parameters in
            ServiceQuestion(skipped: parameters.number(cursor) ?? 0, limit: parameters.number(size) ?? 100_000)
        } page: { [pages] page in
            // A list as a whole has no place for a cursor.
            pages.answer(page, id: id, also: [pages.cursor(after: page)])
        }
    }
}

extension SincePuller {
    func dialect(id: JSONPointer) -> PullDialect? {
        PullDialect { [since, cursor, size] parameters in
            let text = parameters[since].map { JSONText(string: $0) }
            return ServiceQuestion(
                after: text.flatMap(StampFormat.iso8601Milliseconds.time), skipped: parameters.number(cursor) ?? 0,
                limit: parameters.number(size) ?? 100_000)
        } page: { [pages, serverTime] page in
            pages.answer(
                page, id: id,
                also: [
                    pages.cursor(after: page), (serverTime, StampFormat.iso8601Milliseconds.text(page.time)),
                ])
        }
    }
}

extension TokenPuller {
    func dialect(id: JSONPointer) -> PullDialect? {
        PullDialect { [parameter, cursor, size, more] parameters in
            // A token in the middle of a pull says how many rows came before it.
            let parts = (parameters[parameter] ?? "").split(separator: "+").map { Int64($0) }
            let skipped = more == nil ? parameters.number(cursor) : parts.last.flatMap { $0 }.map { Int(clamping: $0) }
            let isWhole = more != nil && parts.count < 2
            return ServiceQuestion(
                after: parts.first.flatMap { $0 }.flatMap { $0 < 0 ? nil : $0 }, skipped: isWhole ? 0 : skipped ?? 0,
                limit: parameters.number(size) ?? 100_000)
        } page: { [pages, token, more] page in
            let inside = page.next.map { "\(page.asked ?? -1)+\($0)" }
            let text = more == nil ? String(page.time) : inside ?? String(page.time)
            return pages.answer(
                page, id: id,
                also: [
                    pages.cursor(after: page), (token, JSONText(string: text)),
                    (more, JSONText(.bool(page.next != nil))),
                ])
        }
    }
}

extension Parameters {
    fileprivate func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }
}
