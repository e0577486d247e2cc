import Larder

extension EditionState {
    static let format = "larder-editions/1"
    private static let mostLoads = 1_000_000

    /// The state as the text of its file.
    var text: String {
        var members: [JSON.Member] = [
            JSON.Member("format", .string(Self.format)), JSON.Member("installation", .string(installation)),
            JSON.Member("revision", .int(revision)),
        ]
        func add(_ name: String, _ value: JSON?) { if let value { members.append(JSON.Member(name, value)) } }
        add("keys", .list(keys.sorted().map(JSON.string)))
        add("channel", channel.map(JSON.string))
        add("etag", etag.map(JSON.string))
        add("reached", reached.map { .int(Int($0.nanoseconds)) })
        add("confirmed", confirmed.map(JSON.string))
        add(
            "trial",
            trial.map {
                ["edition": .string($0.digest), "loads": .int($0.loads), "reached": .bool($0.hasReachedChannel)]
            })
        add("rejected", .list(rejections.map(\.json)))
        add("fitting", fitting.map { ["program": .string($0.program), "edition": .string($0.digest)] })
        add("pin", pin.map(JSON.int))
        return JSON.object(members).text() + "\n"
    }

    /// Reads the file of a state. Returns nil if the file is damaged.
    init?(reading bytes: [UInt8]) {
        guard let json = try? JSON(reading: bytes), json["format"] == .string(Self.format),
            let installation = json["installation"]?.text, let revision = json["revision"]?.number, revision >= 0
        else { return nil }
        self.init(installation: installation)
        self.revision = revision
        if case .list(let ids)? = json["keys"] { keys = Set(ids.prefix(Self.mostRejections).compactMap(\.text)) }
        channel = json["channel"]?.text
        etag = json["etag"]?.text
        reached = json["reached"]?.number.map { Timestamp(nanoseconds: Int64($0)) }
        confirmed = json["confirmed"]?.text
        if let trial = json["trial"], let digest = trial["edition"]?.text {
            self.trial = Trial(
                digest: digest, loads: min(max(0, trial["loads"]?.number ?? 0), Self.mostLoads),
                hasReachedChannel: trial["reached"] == .bool(true))
        }
        if case .list(let items)? = json["rejected"] {
            rejections = items.prefix(Self.mostRejections).compactMap(Rejection.init)
        }
        if let program = json["fitting"]?["program"]?.text, let digest = json["fitting"]?["edition"]?.text {
            fitting = Fitting(program: program, digest: digest)
        }
        pin = json["pin"]?.number
    }
}

extension EditionState.Rejection {
    fileprivate var json: JSON {
        var members = [
            JSON.Member("edition", .string(digest)), JSON.Member("fate", .string(fate.rawValue)),
            JSON.Member("why", .string(why)),
        ]
        if let own { members.append(JSON.Member("own", .string(own))) }
        if let plugins { members.append(JSON.Member("plugins", .string(plugins))) }
        return .object(members)
    }

    fileprivate init?(_ json: JSON) {
        guard let digest = json["edition"]?.text, let why = json["why"]?.text,
            let fate = json["fate"]?.text.flatMap(Fate.init)
        else { return nil }
        self.init(digest: digest, fate: fate, why: why, own: json["own"]?.text, plugins: json["plugins"]?.text)
    }
}
