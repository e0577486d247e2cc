import Larder
import LarderFoundation
import LarderSimulation
import LarderSystem
import Testing

@testable import LarderSync

@Suite struct PullerConformanceTests {
    /// Returns the puller that a policy names.
    static func puller(_ text: String) throws -> any Puller { try made(text, as: .puller, PullPlan.self).puller }

    /// Returns what a part of a policy makes.
    static func made<Plan: Sendable>(_ text: String, as kind: PluginKind, _ type: Plan.Type) throws -> Plan {
        let made = Locked<Plan?>(nil)
        let probe = Plugin.section("probe", "Shows a part.", Setting("of", .part(kind), help: "The part")) {
            context, part in
            let plan = try part.make(Plan.self, in: context)
            made.withLock { $0 = plan }
            return ProbedSection()
        }
        try SimulatedWorld().run { world in
            let pantry = try await Pantry(
                policies: [
                    "a":
                        #"{ "resource": "a", "origin": { "use": "http", "url": "https://api.example.com{/id}{?since,token,cursor,limit}" }, "strategy": "network-only", "probe": { "of": \#(text) } }"#
                ],
                registry: try .standard.adding(.sync).adding([probe]), world: world)
            await pantry.close()
        }
        return try #require(made.withLock { $0 })
    }

    @Test(arguments: [
        (#"{ "use": "since", "items": "/items", "next": "/next", "deleted": "/deleted", "serverTime": "/now", "overlap": "0s" }"#),
        #"{ "use": "token", "items": "/items", "more": "/more", "deleted": "/deleted", "token": "/token" }"#,
        #"{ "use": "token", "items": "/items", "next": "/next", "deleted": "/deleted", "token": "/token" }"#,
        #"{ "use": "all", "items": "/items", "next": "/next" }"#,
    ])
    func builtInOnesKeepTheirPromises(text: String) async throws {
        let suite = PullerConformance(try Self.puller(text), in: RecordService())
        let broken = await suite.brokenPromises()
        // The service forgets positions with 410, which only a token knows.
        let expected = text.contains("since") ? [Promise.tellsExpiry] : []
        #expect(broken.map(\.promise) == expected, "\(broken)")
    }

    /// A puller with a mistake around one that is right.
    private struct WrongPuller: Puller {
        let inner: any Puller
        let mistake: Mistake
        let count = Locked(0)

        func page(_ question: PullQuestion) async throws -> PullPage {
            let calls = count.withLock { count in
                count += 1
                return count
            }
            func ask(_ position: String?, _ cursor: String?) async throws -> PullPage {
                try await inner.page(
                    PullQuestion(
                        position: position, cursor: cursor, limit: question.limit, id: question.id, now: question.now
                    ) { try await question.fetch($0) })
            }
            var page: PullPage
            do { page = try await ask(question.position, question.cursor) } catch {
                switch mistake {
                case .hidesFailures: return PullPage([])
                case .hidesExpiry: if error is PullError { return PullPage([], position: question.position) }
                case .tellsRecords: throw LoadError(.failed, "no answer about quince")
                default: break
                }
                throw error
            }
            switch mistake {
            case .dropsLast: page.records = Array(page.records.dropLast())
            case .stopsEarly: page.next = nil
            case .neverEnds: page.next = page.next ?? question.cursor ?? "0"
            case .dropsDeletions: page.deleted = []
            case .usesLastTime:
                // The position is only told when everything has been read, and is that of the end.
                page.position = page.next == nil ? page.position ?? "999" : nil
                if page.next == nil { page.position = "999" }
            case .remembers: if calls % 2 == 0 { page.records = [] }
            case .hidesFailures, .hidesExpiry, .tellsRecords: break
            }
            return page
        }
    }

    enum Mistake: CaseIterable {
        case dropsLast, stopsEarly, neverEnds, dropsDeletions, usesLastTime, remembers, hidesFailures, hidesExpiry
        case tellsRecords

        var promise: Promise {
            switch self {
            case .dropsLast, .stopsEarly, .usesLastTime: .brings
            case .neverEnds: .pagesEnd
            case .dropsDeletions: .tellsDeletions
            case .remembers: .deterministic
            case .hidesFailures: .tellsFailures
            case .hidesExpiry: .tellsExpiry
            case .tellsRecords: .failures
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func mistakeIsFound(mistake: Mistake) async throws {
        let right = try Self.puller(
            #"{ "use": "token", "items": "/items", "more": "/more", "deleted": "/deleted", "token": "/token" }"#)
        let suite = PullerConformance(WrongPuller(inner: right, mistake: mistake), in: RecordService())
        let broken = await suite.brokenPromises()
        #expect(broken.map(\.promise).contains(mistake.promise), "\(broken)")
    }
}

private struct ProbedSection: Larder.Attachment {}
