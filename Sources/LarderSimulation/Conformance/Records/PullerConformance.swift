public import Larder
import LarderFoundation
public import LarderSync

/// A suite that checks whether a puller keeps its promises: that every record and each later change arrives, also one that is
/// made during a pull, and that no failure looks like an answer.
///
/// ```swift
/// #expect(await PullerConformance(ZonePuller(zone), in: zone).brokenPromises() == [])
/// ```
public struct PullerConformance: Sendable {
    let puller: any Puller
    let service: any TestedService
    let id: JSONPointer
    let updatedAt: JSONPointer?
    let tellsDeletions: Bool

    /// The most records that a page should have.
    static let limit = 3

    /// Creates the suite for a puller.
    ///
    /// - Parameters:
    ///   - puller: the puller to test.
    ///   - service: an empty service, to which the puller talks. The suite fills it with records that have the members `id`,
    ///     `text` and `updatedAt`.
    ///   - id: the place of the id in a record.
    ///   - updatedAt: the place of the time of the last change in a record; nil if the puller needs none.
    ///   - tellsDeletions: whether the service tells what was deleted. A puller that always fetches everything need not.
    public init(
        _ puller: any Puller, in service: any TestedService, id: JSONPointer = JSONPointer(steps: ["id"]),
        updatedAt: JSONPointer? = nil, tellsDeletions: Bool = true
    ) {
        (self.puller, self.service, self.id) = (puller, service, id)
        (self.updatedAt, self.tellsDeletions) = (updatedAt, tellsDeletions)
    }

    /// Runs the suite and returns the promises that are not kept, each with the first situation in which it was broken.
    public func brokenPromises() async -> [BrokenPromise] {
        var findings = BrokenPromises()
        var device = PulledRecords()
        for count in [0, 1, Self.limit, Self.limit + 1, 3 * Self.limit + 1] {
            findings.situation = "the service has \(count) records"
            await check(&device, &findings) {
                for number in 0..<count { try await service.put(SampleRecords.record(number)) }
            }
        }
        await checkChanges(&device, &findings)
        await checkChangesBetweenPages(&device, &findings)
        await checkTroubles(device, &findings)
        await checkForgottenPosition(device, &findings)
        return findings.broken
    }

    // MARK: Situations

    /// Makes changes, pulls, and compares.
    private func check(
        _ device: inout PulledRecords, _ findings: inout BrokenPromises, _ change: () async throws -> Void
    ) async {
        do {
            try await change()
            try await pull(&device, &findings) { _ in }
        } catch {
            findings.expect(false, promise: .composes, expected: "a pull that ends well", got: "\(error)")
        }
        await compare(device, &findings)
    }

    private func compare(_ device: PulledRecords, _ findings: inout BrokenPromises) async {
        let expected = await service.content(id)
        let missing = expected.filter { !(device.records[$0.key]?.means($0.value) ?? false) }.keys.sorted()
        findings.expect(
            missing.isEmpty, promise: .brings, expected: "the records of the service",
            got: "none or older ones of \(missing)")
        let left = Set(device.records.keys).subtracting(expected.keys).sorted()
        findings.expect(
            left.isEmpty || !tellsDeletions, promise: .tellsDeletions, expected: "the deletions of the service",
            got: "no word of \(left)")
    }

    private func checkChanges(_ device: inout PulledRecords, _ findings: inout BrokenPromises) async {
        findings.situation = "records are changed, made and deleted between two pulls"
        await check(&device, &findings) {
            try await service.put(SampleRecords.record(1, "changed"))
            try await service.put(SampleRecords.record(50))
            if tellsDeletions { try await service.delete(SampleRecords.id(2)) }
        }
        findings.situation = "nothing has changed since the last pull"
        await check(&device, &findings) {}
    }

    /// Changes something after each page of a pull of everything. The next pull must know of it at the latest.
    private func checkChangesBetweenPages(_ device: inout PulledRecords, _ findings: inout BrokenPromises) async {
        for page in 1...4 {
            findings.situation = "records are changed after page \(page) of a pull of everything"
            do {
                device.position = nil
                try await pull(&device, &findings) { number in
                    guard number == page else { return }
                    try await service.put(SampleRecords.record(0, "changed after page \(page)"))
                    try await service.put(SampleRecords.record(60 + page))
                }
                try await pull(&device, &findings) { _ in }
            } catch {
                findings.expect(false, promise: .composes, expected: "a pull that ends well", got: "\(error)")
            }
            await compare(device, &findings)
        }
    }

    private func checkTroubles(_ device: PulledRecords, _ findings: inout BrokenPromises) async {
        let cursor = try? await puller.page(question(nil, cursor: nil)).next
        for trouble in [ServiceTrouble.unreachable, .loginPage, .signedOut] {
            for (position, cursor) in [(nil, nil), (nil, cursor), (device.position, nil)] {
                let page = cursor == nil ? "the first page" : "a later page"
                findings.situation = "trouble: \(trouble), at \(page)\(position == nil ? "" : " since a position")"
                await service.set(trouble)
                do {
                    _ = try await puller.page(question(position, cursor: cursor))
                    findings.expect(false, promise: .tellsFailures, expected: "an error", got: "a page")
                } catch {
                    findings.expect(
                        !"\(error)".contains(SampleRecords.secret), promise: .failures,
                        expected: "a message without anything of a record", got: "\(error)")
                }
                await service.set(nil)
            }
        }
    }

    private func checkForgottenPosition(_ device: PulledRecords, _ findings: inout BrokenPromises) async {
        findings.situation = "the service has forgotten the position"
        guard let position = device.position, await service.forgetPositions() else { return }
        do {
            let page = try await puller.page(question(position, cursor: nil))
            findings.expect(
                page.epoch != device.epoch, promise: .tellsExpiry, expected: "positionExpired or another epoch",
                got: "a page")
        } catch PullError.positionExpired {} catch {
            findings.expect(false, promise: .tellsExpiry, expected: "positionExpired", got: "\(error)")
        }
    }

    // MARK: Pulls

    /// Pulls as Larder does: the first page that has a position decides, and without a position everything is asked for.
    private func pull(
        _ device: inout PulledRecords, _ findings: inout BrokenPromises,
        afterPage: (Int) async throws -> Void
    ) async throws {
        let (position, most) = (device.position, await service.records.count + 20)
        var (cursor, next, seen, pages): (String?, String?, Set<String>, Int) = (nil, nil, [], 0)
        while true {
            let page = try await puller.page(question(position, cursor: cursor))
            let again = try await puller.page(question(position, cursor: cursor))
            findings.expect(
                again.records == page.records && again.deleted == page.deleted && again.next == page.next,
                promise: .deterministic, expected: "the same page for the same question", got: "another one")
            pages += 1
            for record in page.records {
                guard let name = record[id]?.name else { continue }
                device.records[name] = record
                seen.insert(name)
            }
            for id in page.deleted where !page.records.contains(where: { $0[self.id]?.name == id }) {
                device.records[id] = nil
            }
            next = next ?? page.position
            device.epoch = page.epoch
            try await afterPage(pages)
            guard let following = page.next else { break }
            cursor = following
            if pages > most {
                findings.expect(false, promise: .pagesEnd, expected: "a last page", got: "\(pages) pages")
                break
            }
        }
        // Without a position everything was asked for, and what is missing is gone.
        if position == nil, tellsDeletions { device.records = device.records.filter { seen.contains($0.key) } }
        device.position = next
    }

    private func question(_ position: String?, cursor: String?) -> PullQuestion {
        PullQuestion(
            position: position, cursor: cursor, limit: Self.limit, id: id, updatedAt: updatedAt,
            now: Timestamp(nanoseconds: 0)
        ) { [service] parameters in
            try await service.load(Call(Request("records", parameters))).value
        }
    }
}

/// The records and the position that a device knows.
private struct PulledRecords {
    var records: [String: JSONText] = [:]
    var position: String?
    var epoch: String?
}
