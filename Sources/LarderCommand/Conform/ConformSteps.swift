import Larder

extension ConformRow.Answer {
    init(_ node: Node, _ place: String) throws(Unsupported) {
        var fields = try Fields(node, place)
        after = try fields.moment("delay_ms") ?? .zero
        let status = try fields.number("status", in: 100...599)
        let error = try fields.text("error")
        let value = try fields.text("value")
        let etag = try fields.text("etag")
        let lastModified = try fields.text("last_modified")
        // Used only where the strategy says so, which is not supported.
        fields.pass("ttl_ms")
        ending =
            switch (status, error) {
            case (nil, let error?): .failure(error)
            case (200, nil): .value(try fields.required("value", value), etag: etag, lastModified: lastModified)
            case (304, nil): .unchanged
            case (let status?, nil) where status >= 400: .status(Int(status))
            case (let status?, nil): throw Unsupported("\(place).status \(status)")
            case (nil, nil): throw Unsupported("\(place) says neither status nor error")
            case (.some, .some): throw Unsupported("\(place) says both status and error")
            }
        requires = [:]
        if let node = fields.node("requires") {
            var required = try Fields(node, "\(place).requires")
            for name in ["if_none_match", "if_modified_since"] where required.given(name) != nil {
                requires[name] = .some(try required.text(name))
            }
            try required.finish()
        }
        try fields.finish()
    }
}

extension ConformRow.Step {
    /// More callers in one row would take too long.
    static let mostCallers = 10_000

    init(_ node: Node, _ place: String, errors: Set<String>) throws(Unsupported) {
        var fields = try Fields(node, place)
        fields.pass("note")
        let op = try fields.required("op", fields.text("op"))
        guard op == "get" else { throw Unsupported("op \(op.quoted)") }
        at = try fields.required("at_ms", fields.moment("at_ms"))
        key = try fields.required("key", fields.text("key"))
        count = Int(try fields.number("count", in: 1...Int64(Self.mostCallers)) ?? 1)
        cancelAt = try fields.moment("cancel_at_ms")
        if let cancelAt, cancelAt < at { throw Unsupported("\(place).cancel_at_ms before its at_ms") }
        let node = fields.node("expect")
        // What else the step says decides more than what it expects.
        try fields.finish()
        expected = ConformRow.Expectation()
        if let node { expected = try ConformRow.Expectation(node, "\(place).expect", errors) }
    }
}

extension ConformRow.Expectation {
    private static let errors: Set<String> = ["not-stored", "timeout", "no-response", "cancelled"]

    init(_ node: Node, _ place: String, _ errors: Set<String>) throws(Unsupported) {
        var fields = try Fields(node, place)
        if let node = fields.given("value") {
            value = try fields.text("value")
            if value == nil { throw Unsupported("\(place).value is \(node.inWords)") }
        }
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
        try fields.finish()
        if value != nil, error != nil { throw Unsupported("\(place) expects both a value and an error") }
        if let status, status != 200, error == nil {
            guard status >= 400 else { throw Unsupported("\(place).status \(status)") }
            if value != nil {
                throw Unsupported("an answer of \(status) reaches the caller as an error, without its body")
            }
        }
    }
}

extension ConformRow.End {
    init(_ node: Node, in tiers: [ConformRow.Tier]) throws(Unsupported) {
        var fields = try Fields(node, "end")
        at = try fields.moment("at_ms")
        originCalls = try fields.number("origin_calls")
        bodyWrites = try fields.number("body_writes")
        let content = fields.node("stored")
        if let content { _ = try Fields(content, "end.stored") }
        for member in content?.members ?? [] {
            var tier = try Fields(member.value, "end.stored.\(try Self.name(member.name, tiers))")
            var content: [String: String] = [:]
            for entry in member.value.members ?? [] {
                content[entry.name] = try tier.required(entry.name.shown, tier.text(entry.name))
            }
            stored[member.name] = content
        }
        if let node = fields.node("store_errors") {
            var errors = try Fields(node, "end.store_errors")
            for member in node.members ?? [] {
                let name = try Self.name(member.name, tiers)
                storeErrors[name] = try errors.required(name.shown, errors.number(name))
            }
        }
        try fields.finish()
    }

    private static func name(_ name: String, _ tiers: [ConformRow.Tier]) throws(Unsupported) -> String {
        guard tiers.contains(where: { $0.name == name }) else {
            throw Unsupported("end speaks of the store \(name.quoted), which is not there")
        }
        return name
    }
}
