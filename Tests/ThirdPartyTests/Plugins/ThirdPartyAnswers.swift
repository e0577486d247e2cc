import LarderFoundation
import Larder
import Synchronization

// A section that answers loads in place of a strategy, as another module would write it.

/// Answers loads with pages that it keeps by their days.
final class Almanac: AnsweringAttachment {
    private let pages = Mutex<[String: String]>([:])
    let context: SectionContext
    fileprivate let journal: Journal

    init(_ context: SectionContext, _ journal: Journal) {
        self.context = context
        self.journal = journal
    }

    var loader: any Loader { AlmanacLoader(almanac: self) }

    func page(of day: String) -> String? { pages.withLock { $0[day] } }

    /// Keeps a page.
    func write(_ page: String, on day: String) { pages.withLock { $0[day] = page } }

    /// Keeps the page that the origin has for a day.
    func refresh(_ day: String) async throws {
        let entry = try await context.fetch(Request(context.resource, ["day": day], deadline: .seconds(5)))
        write(String(decoding: entry.payload.bytes, as: UTF8.self), on: day)
    }

    func cleared(_ selection: Selection, discardingUnsent: Bool) async {
        journal.note("cleared \(selection)")
        pages.withLock { $0 = [:] }
    }
}

private struct AlmanacLoader: Loader {
    let almanac: Almanac

    func load(_ call: Call) async throws -> Loaded<Entry> {
        let day = call.request.parameters["day"] ?? "none"
        almanac.journal.note("\(call.request.mode.rawValue) \(day) for \(call.key.scope ?? "nobody")")
        var failure: LoadError?
        if call.request.mode == .refresh {
            do { try await almanac.refresh(day) } catch let error as LoadError {
                call.trail.note("almanac", error.event)
                failure = error
            }
        }
        guard let page = almanac.page(of: day) else { throw failure ?? LoadError.notCached }
        return Loaded(
            Entry(Data(page.utf8)), from: .store("almanac"), freshness: day == "yesterday" ? .stale : .fresh,
            age: .seconds(60), isStored: true, fellBack: failure != nil)
    }
}

extension Plugin {
    static func almanac(_ journal: Journal = Journal()) -> Plugin {
        .section(
            "almanac", "Answers loads with its pages.",
            Setting("year", .int(1...9_999), help: "The year"),
            traits: { _ in .with { $0.answersLoads = true } }
        ) { context, _ in Almanac(context, journal) }
    }

    /// A section that says in its traits whether it answers loads, whatever it makes.
    static func calendar(
        _ name: String = "calendar", answersLoads: Bool = true,
        _ make: @escaping @Sendable (SectionContext) throws -> any Attachment
    ) -> Plugin {
        .section(
            name, "Answers loads, or not.", Setting("year", .int(1...9_999), default: 1, help: "The year"),
            traits: { _ in .with { $0.answersLoads = answersLoads } }
        ) { context, _ in try make(context) }
    }

    /// An origin that signs its calls for an account, and answers with their scope and parameters.
    static func echo(for account: @escaping @Sendable () -> String?) -> Plugin {
        .origin(
            "echo", "Answers with the request.",
            traits: {
                .with {
                    $0.account = account
                    ($0.requiredParameters, $0.parameters) = (["day"], ["day", "cursor"])
                }
            }
        ) { _ in Echo() }
    }
}

private struct Echo: Loader {
    func load(_ call: Call) async throws -> Loaded<Entry> {
        let parameters = call.request.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return Loaded(Entry(Data("\(call.key.scope ?? "nobody") \(parameters)".utf8), Metadata(etag: "e")))
    }
}
