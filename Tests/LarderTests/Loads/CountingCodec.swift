import LarderFoundation

import Larder
@testable import LarderSystem
@testable import LarderCore
@testable import LarderPlugins

/// A codec for text that counts its decodings and calls `spy` for each.
struct CountingCodec: Codec {
    /// The counts of all equal codecs.
    final class Count: Sendable {
        private let made = Locked(0)
        let spy: @Sendable () -> Void

        init(spy: @escaping @Sendable () -> Void = {}) { self.spy = spy }

        var value: Int { made.withLock { $0 } }

        func add() {
            spy()
            made.withLock { $0 += 1 }
        }
    }

    struct Unreadable: Error {}

    let name: String
    let count: Count

    init(_ name: String = "text", _ count: Count = Count()) {
        self.name = name
        self.count = count
    }

    func decode(_ bytes: Data) throws -> String {
        count.add()
        let text = String(decoding: bytes, as: UTF8.self)
        if text == "unreadable" { throw Unreadable() }
        return name + ":" + text
    }

    static func == (left: CountingCodec, right: CountingCodec) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
