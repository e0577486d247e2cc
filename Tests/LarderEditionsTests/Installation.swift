import Larder
import LarderSystem

@testable import LarderEditions

/// An installation without a pantry: policies are composed by a rule of the test.
struct Installation {
    let files: MemoryFiles
    var rules: EditionRules
    /// Returns why an edition cannot be composed; nil if it can.
    var compose: (EditionFile) throws -> EditionError? = { _ in nil }
    var own = "own"
    var program: String?
    var now = Timestamp(seconds: 1_000_000)
    var machine: EditionMachine?
    private(set) var events: [EditionEvent] = []
    /// The number of polls that were answered by "304 Not Modified".
    private(set) var unchangedPolls = 0

    init(_ rules: EditionRules, files: MemoryFiles = MemoryFiles()) { (self.rules, self.files) = (rules, files) }

    var running: Int? { machine?.running?.edition.number }
    var state: EditionState? { files.contents[KeptEditions.stateName].flatMap { EditionState(reading: $0) } }

    /// Starts a process.
    mutating func start(_ installation: String = "0123") throws {
        machine = nil
        machine = EditionMachine(rules, files: files, program: program, newInstallation: { installation })
        try reload()
    }

    /// Ends the process as if it was killed.
    mutating func kill() { machine = nil }

    /// Ends the process as it should.
    mutating func close() {
        machine?.endStart()
        machine = nil
    }

    /// Puts policies in effect as a pantry does.
    mutating func reload() throws {
        for _ in 0..<8 {
            guard let edition = machine?.supply(over: own, at: now) else { break }
            let refusal = try compose(edition)
            events += machine?.supplied(refusal) ?? []
            if refusal == nil { return }
        }
        events += machine?.supplied(nil) ?? []
    }

    /// Polls a channel whose files are these. The server knows its answers by their hash.
    ///
    /// - Throws: an error of the disk.
    mutating func poll(_ published: [String: [UInt8]]) throws {
        guard let channel = published[rules.name + ".channel"] else { return }
        let etag = SHA256.hex(channel)
        if machine?.etag == etag {
            unchangedPolls += 1
        } else {
            do { try machine?.kept.receive(channel: channel, etag: etag, at: now) } catch let error as EditionError {
                events.append(.channelRefused(error))
                machine?.failed(error)
                return
            }
        }
        tell(machine?.reached(at: now).map(EditionEvent.confirmed))
        var failed: Set<String> = []
        for _ in 0..<4 {
            guard let listed = machine?.missing(at: now, except: failed) else { break }
            do {
                guard let bytes = published[listed.at] else { throw EditionError(.unreachable, "no such file") }
                let edition = try machine?.kept.receive(edition: bytes, for: listed)
                tell(edition.map { .offered($0.number) })
            } catch let error as EditionError {
                events.append(.refused(nil, error))
                failed.insert(listed.digest)
            }
        }
        if machine?.isOutdated(at: now) == true { try reload() }
    }

    mutating func answer(_ loads: Int) { tell(machine?.answered(loads).map(EditionEvent.confirmed)) }

    private mutating func tell(_ event: EditionEvent?) { if let event { events.append(event) } }
}
