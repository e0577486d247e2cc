import Foundation
import Larder

// A signer of a module, with settings of its own; and an origin that is not Larder's and lets signers sign.

/// Adds a key and the account to requests.
struct KeySigner: Signer {
    let header: String

    func sign(_ request: inout HTTPRequest, for account: String) async throws {
        request.setField(header, "key of \(account)")
    }
}

/// The account that is signed in.
final class SignedIn: @unchecked Sendable {
    // Locked by hand, because tests of another package have no lock of Larder's.
    private let lock = NSLock()
    private var name: String?

    init(_ name: String?) { self.name = name }

    var account: String? {
        get { lock.withLock { name } }
        set { lock.withLock { name = newValue } }
    }
}

/// The connections of all resources.
final class Line: Sendable {}

struct DialledOrigin: Loader {
    let signer: any Signer
    let line: Line

    func load(_ call: Call) async throws -> Loaded<Entry> {
        var request = HTTPRequest(url: "https://api.example/")
        if let account = call.request.key.scope { try await signer.sign(&request, for: account) }
        let text = request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        return Loaded(Entry(Data("\(text)|\(ObjectIdentifier(line).hashValue)".utf8)))
    }
}

extension Plugin {
    static func keySigner(_ signedIn: SignedIn) -> Plugin {
        .custom(
            .signer, "key", "Adds a key.", Setting("header", .text, default: "X-Key", help: "The field"),
            traits: { _ in .with { $0.account = { signedIn.account } } }
        ) { _, header in KeySigner(header: header) }
    }

    static let dialled = Plugin.origin(
        "dialled", "Asks over one line.", Setting("sign", .part(.signer), help: "The signer"),
        Setting("least", .int(0...9), default: 0, help: "The fewest calls"),
        Setting("most", .int(0...9), default: 9, help: "The most calls"),
        traits: { _, least, most in
            .with {
                if most < least { $0.contradictions = [Contradiction("most", "'most' is smaller than 'least'")] }
            }
        }
    ) { context, sign, _, _ in
        DialledOrigin(signer: try sign.make((any Signer).self, in: context), line: context.share("line") { Line() })
    }
}
