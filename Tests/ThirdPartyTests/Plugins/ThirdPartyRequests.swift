import LarderFoundation
import Larder
import Synchronization

// Plugins that use what a request carries, as another package would write them.

// MARK: Origin

/// An origin that answers in the language that a request asks for, and accepts changes of the text.
final class Phrases: Loader {
    private let text = Mutex("hello")

    func load(_ call: Call) async throws -> Loaded<Entry> {
        if call.isSend {
            guard call.method == "PUT", let body = call.request.body else { throw LoadError.status(405) }
            text.withLock { $0 = String(decoding: body, as: UTF8.self) }
            return Loaded(Entry(Data("changed".utf8)))
        }
        let language = call.request.fields["Accept-Language"] ?? "en"
        var metadata = Metadata()
        metadata.variesBy = ["Accept-Language"]
        return Loaded(Entry(Data("\(language): \(text.withLock { $0 })".utf8), metadata))
    }
}

extension Plugin {
    static func phrases(_ phrases: Phrases) -> Plugin {
        .origin("phrases", "Answers in many languages.", traits: { .with { $0.acceptsSends = true } }) { _ in
            phrases
        }
    }
}

// MARK: Wrapper

/// A queue that lets one call through at a time, the most urgent first.
final class Turnstile: Loader {
    private struct State {
        var isBusy = false
        var last = 0
        var waiting: [Int: (priority: Request.Priority, turn: CheckedContinuation<Void, Never>)] = [:]

        /// The most urgent call that waits, and of several the first.
        var next: Int? {
            waiting.max { ($0.value.priority, -$0.key) < ($1.value.priority, -$1.key) }?.key
        }
    }

    private let inner: any Loader
    private let state = Mutex(State())

    init(_ inner: any Loader) { self.inner = inner }

    func load(_ call: Call) async throws -> Loaded<Entry> {
        await takeTurn(call)
        defer { endTurn() }
        return try await inner.load(call)
    }

    private func takeTurn(_ call: Call) async {
        let number = state.withLock { state -> Int? in
            if !state.isBusy {
                state.isBusy = true
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let number else { return }
        let raising = Mutex<Subscription?>(nil)
        await withCheckedContinuation { turn in
            state.withLock { $0.waiting[number] = (call.priority, turn) }
            let subscription = call.onRaise { [weak self] priority in
                self?.state.withLock { $0.waiting[number]?.priority = priority }
            }
            raising.withLock { $0 = subscription }
        }
        raising.withLock { $0 }?.stop()
    }

    private func endTurn() {
        let turn = state.withLock { state in
            let next = state.next.flatMap { state.waiting.removeValue(forKey: $0) }
            state.isBusy = next != nil
            return next?.turn
        }
        turn?.resume()
    }
}

extension Plugin {
    static let turnstile = Plugin.wrapper("turnstile", "Lets one call through at a time.") { context, inner in
        Turnstile(inner)
    }
}
