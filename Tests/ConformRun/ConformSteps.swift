import LarderFoundation
import Larder

extension ConformRow.Answer {
    init(_ node: Node, _ place: String, _ strategy: ConformRow.Strategy) throws(Unsupported) {
        var fields = try RowObject(node, place)
        after = try fields.moment("delay_ms") ?? .zero
        let status = try fields.number("status", in: 100...599)
        let error = try fields.text("error")
        let body = try fields.body()
        self.body = body ?? Data()
        headers = try fields.headers("headers")
        validators = try strategy.conditions(&fields, headers)
        ttl = try fields.lifetime()
        switch (status, error) {
        // A connection can break after the status.
        case (_, let error?): ending = .failure(error)
        case (let status?, nil):
            if status == 200 { _ = try fields.required("value", body) }
            ending = .status(Int(status))
        case (nil, nil): throw Unsupported("\(place) says neither status nor error")
        }
        requires = [:]
        if var required = try fields.object("requires") {
            for name in ["if_none_match", "if_modified_since"] where required.given(name) != nil {
                requires[name] = .some(try required.text(name))
            }
            if let range = try required.text("range") {
                throw Unsupported("\(place).requires.range \(range.quoted): ranges are not supported yet")
            }
            try required.finish()
        }
        try fields.finish()
    }
}

extension ConformRow.Step {
    /// The largest number of callers in a row. More would take too long.
    static let mostCallers = 10_000

    init(_ node: Node, _ place: String, in tiers: [ConformRow.Tier], errors: Set<String>) throws(Unsupported) {
        var fields = try RowObject(node, place)
        let op = try fields.required("op", fields.text("op"))
        at = try fields.required("at_ms", fields.moment("at_ms"))
        count = Int(try fields.number("count", in: 1...Int64(Self.mostCallers)) ?? 1)
        cancelAt = try fields.moment("cancel_at_ms")
        if let cancelAt, cancelAt < at { throw Unsupported("\(place).cancel_at_ms before its at_ms") }
        let key = try fields.text("key")
        self.key = op == "sweep" || op == "replay" ? "" : try fields.required("key", key)
        queue = OutboxPlay.usualQueue
        if ["enqueue", "replay", "put", "get"].contains(op) { queue = try fields.text("queue") ?? queue }
        requestHeaders = []
        switch op {
        case "get", "get-local":
            operation = op == "get" ? .get : .getLocal
            if let method = try fields.text("method"), method != "GET" {
                throw Unsupported("\(place).method \(method.quoted): a load is a GET")
            }
            requestHeaders = try Self.requestHeaders(&fields, place)
        case "put": operation = .put(try fields.required("value", fields.body()))
        case "drop": operation = .drop(tier: try Self.tier(&fields, place, tiers))
        case "sweep":
            if fields.node("store") != nil { _ = try Self.tier(&fields, place, tiers) }
            operation = .sweep
        case "send":
            let body = try fields.text("body").map { Data($0.utf8) }
            operation = .send(method: try fields.text("method") ?? "POST", body: body)
            requestHeaders = try Self.requestHeaders(&fields, place)
        case "enqueue":
            let body = try fields.text("body").map { Data($0.utf8) }
            operation = .enqueue(method: try fields.text("method") ?? "POST", body: body)
        case "replay": operation = .replay
        default: throw Unsupported("op \(op.quoted)")
        }
        let node = fields.node("expect")
        // The other fields of the step come before its expectations.
        try fields.finish()
        expected = ConformRow.Expectation()
        if let node { expected = try ConformRow.Expectation(node, "\(place).expect", in: tiers, errors) }
        if !isLoad { try expected.checkWithoutValue("\(place).expect", op) }
    }

    /// Whether the step asks for a value.
    var isLoad: Bool {
        switch operation {
        case .get, .getLocal, .send: true
        case .put, .drop, .sweep, .enqueue, .replay: false
        }
    }

    /// Whether the step is about requests that wait.
    var needsOutbox: Bool {
        switch operation {
        case .enqueue, .replay: true
        case .get, .getLocal, .send, .put, .drop, .sweep:
            queue != OutboxPlay.usualQueue || expected.sent != nil || expected.dropped != nil
                || expected.isPending != nil
        }
    }

    var isPossibleWithOutbox: Bool {
        switch operation {
        case .enqueue, .replay, .get, .put: true
        case .getLocal, .send, .drop, .sweep: false
        }
    }

    private static func requestHeaders(
        _ fields: inout RowObject, _ place: String
    ) throws(Unsupported) -> [ConformRow.Header] {
        let headers = try fields.headers("request_headers")
        if headers.contains(where: { $0.name.lowercased() == "range" }) {
            throw Unsupported("\(place).request_headers.Range: ranges are not supported yet")
        }
        return headers
    }

    private static func tier(
        _ fields: inout RowObject, _ place: String, _ tiers: [ConformRow.Tier]
    ) throws(Unsupported) -> Int {
        let store = try fields.required("store", fields.text("store"))
        guard let tier = tiers.firstIndex(where: { $0.name == store }) else {
            throw Unsupported("\(place) is about the store \(store.quoted), which is not there")
        }
        return tier
    }
}

extension ConformRow.Expectation {
    private static let errors: Set<String> = [
        "not-stored", "timeout", "no-response", "cancelled", "store", "replay-failed",
    ]

    init(
        _ node: Node, _ place: String, in tiers: [ConformRow.Tier], _ errors: Set<String>
    ) throws(Unsupported) {
        var fields = try RowObject(node, place)
        if let node = fields.given("value") {
            value = try fields.text("value")
            if value == nil { throw Unsupported("\(place).value is \(node.inWords)") }
        }
        length = try fields.number("length")
        isValue = fields.given("error") != nil
        if let error = try fields.text("error") {
            guard Self.errors.union(errors).contains(error) else { throw Unsupported("\(place).error \(error.quoted)") }
            self.error = error
            isValue = false
        }
        freshness = try fields.text("freshness", among: ["fresh", "stale"]).flatMap(Freshness.init(rawValue:))
        from = try fields.text("from", among: ["origin", "cache", "revalidated"])
        doneAt = try fields.moment("done_at_ms")
        originCalls = try fields.number("origin_calls")
        status = try fields.number("status", in: 100...599)
        headers = try fields.namedTexts("headers")
        storeErrors = try fields.storeErrors(in: tiers)
        sent = try fields.texts("sent")
        dropped = try fields.texts("dropped")
        isPending = try fields.text("result", among: ["pending", "sent"]).map { $0 == "pending" }
        if fields.node("content_range") != nil {
            throw Unsupported("\(place).content_range: ranges are not supported yet")
        }
        try fields.finish()
        if value != nil, error != nil { throw Unsupported("\(place) expects both a value and an error") }
    }

    /// Checks the expectations of a step that gets no value.
    fileprivate func checkWithoutValue(_ place: String, _ op: String) throws(Unsupported) {
        if value != nil || length != nil || freshness != nil || from != nil || status != nil || !headers.isEmpty {
            throw Unsupported("\(place) expects a value of the op \(op.quoted)")
        }
    }
}

extension ConformRow.End {
    init(_ node: Node, in tiers: [ConformRow.Tier]) throws(Unsupported) {
        var fields = try RowObject(node, "end")
        at = try fields.moment("at_ms")
        originCalls = try fields.number("origin_calls")
        bodyWrites = try fields.number("body_writes")
        if var stored = try fields.object("stored") {
            for name in stored.names {
                try stored.check(name, isOf: tiers)
                for entry in try stored.namedTexts(name) { self.stored[name, default: [:]][entry.name] = entry.text }
                self.stored[name, default: [:]] = self.stored[name] ?? [:]
            }
        }
        storeErrors = try fields.storeErrors(in: tiers)
        if var queues = try fields.object("queues") {
            for name in queues.names { self.queues[name] = try queues.texts(name) ?? [] }
        }
        try fields.finish()
    }
}
