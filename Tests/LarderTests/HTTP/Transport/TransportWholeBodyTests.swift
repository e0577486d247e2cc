import LarderFoundation
import LarderCore
import Testing

@testable import LarderPlugins

/// Bodies that end early, are damaged or go on too long. Each that is not provably whole is a failure.
@Suite(.timeLimit(.minutes(20))) struct TransportWholeBodyTests {
    /// The way in which an answer tells where its body ends.
    enum Framing: String, CaseIterable {
        case chunked, length, close
    }

    /// The damage of a body.
    enum Damage: Hashable {
        case none
        /// A share of the packed bytes arrives. The framing may state the smaller size, as that of a server whose
        /// own origin broke off does, or the whole one.
        case cut(percent: Int, isStated: Bool)
        /// The bytes at the end are missing that tell whether the others are right: the checksum of a compression, or
        /// the end of the chunks.
        case trailerMissing
        /// These bytes are wrong.
        case trailerWrong(place: Int)
        /// More bytes arrive than belong to the body.
        case extraBytes
    }

    /// An answer.
    struct Row: Hashable {
        var sample: CompressedSample
        var framing: Framing
        var damage: Damage

        /// The cause of the failure; nil if the body is whole.
        var expected: LoadError.Cause? {
            switch damage {
            case .none: nil
            case .extraBytes where sample == .identity && framing == .length: nil
            case .cut, .trailerMissing: .reset
            case .trailerWrong, .extraBytes: .malformed
            }
        }
    }

    /// All answers whose bodies can be told from whole ones.
    ///
    /// Some cannot: a plain body that ends with the connection may be cut or too long, and a plain body of the stated
    /// length may be cut before it was sent. Brotli and bare deflate have no checksum, so a wrong byte that leaves them
    /// well-formed cannot be found.
    static let rows: [Row] = CompressedSample.allCases.flatMap { sample in
        Framing.allCases.flatMap { framing in
            var damages: [Damage] = [.none]
            let isPlain = sample == .identity
            for percent in [1, 5, 50, 99] {
                if !isPlain { damages.append(.cut(percent: percent, isStated: true)) }
                if framing != .close { damages.append(.cut(percent: percent, isStated: false)) }
            }
            if !isPlain || framing == .chunked { damages.append(.trailerMissing) }
            // A checksum, and the size behind it.
            for place in stride(from: 1, through: sample.checksumSize, by: 4) {
                damages.append(.trailerWrong(place: place))
            }
            if isPlain, framing == .chunked { damages.append(.trailerWrong(place: 0)) }
            if !isPlain || framing != .close { damages.append(.extraBytes) }
            return damages.map { Row(sample: sample, framing: framing, damage: $0) }
        }
    }

    private static func reply(_ row: Row) -> ScriptedReply {
        var (body, stated) = (row.sample.packed, true)
        switch row.damage {
        case .none: break
        case .cut(let percent, let isStated):
            (body, stated) = (body.prefix(max(1, body.count * percent / 100)), isStated)
        case .trailerMissing:
            if row.sample != .identity { body.removeLast(max(1, row.sample.checksumSize)) } else { stated = false }
        case .trailerWrong(let place): if row.sample != .identity { body[body.count - place] ^= 1 }
        case .extraBytes: if row.sample != .identity { body += Data("extra".utf8) }
        }
        // Bytes behind an answer would otherwise be read as the beginning of the next row's answer.
        var fields = [(name: "Connection", value: "close")]
        if let name = row.sample.name { fields.append(("Content-Encoding", name)) }
        let isLonger = row.damage == .extraBytes && row.sample == .identity
        switch row.framing {
        case .close:
            return .steps(.send(ScriptedReply.head(200, fields)), .bytes(body), .close)
        case .length:
            fields.append(("Content-Length", "\(stated ? body.count : row.sample.packed.count)"))
            return .steps(
                .send(ScriptedReply.head(200, fields)), .bytes(body + Data((isLonger ? "extra" : "").utf8)), .close)
        case .chunked:
            fields.append(("Transfer-Encoding", "chunked"))
            let isWrong = row.damage == .trailerWrong(place: 0)
            let end = (isLonger ? "extra" : "") + (stated ? "\r\n0\r\n\(isWrong ? "no field\r\n" : "")\r\n" : "\r\n")
            return .steps(
                .send(ScriptedReply.head(200, fields) + String(body.count, radix: 16) + "\r\n"), .bytes(body),
                .send(end), .close)
        }
    }

    @Test(arguments: TestedTransport.with(.wholeBodies))
    func bodyThatIsNotProvablyWholeFails(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer { Self.reply(Self.rows[Int($0.path.dropFirst()) ?? 0]) }
        let transport = try tested.make()
        var wrong: [String] = []
        for (number, row) in Self.rows.enumerated() {
            var found: LoadError.Cause?
            do {
                let answer = try await transport.fetch("\(server.url)/\(number)")
                #expect(row.expected != nil || answer.body == CompressedSample.content, "\(row)")
            } catch let failure as HTTPFailure {
                found = failure.cause
            }
            if found != row.expected {
                wrong.append("\(row.sample) \(row.framing) \(row.damage): \(found.map { "\($0)" } ?? "delivered")")
            }
        }
        #expect(wrong == [], "\(wrong.count) of \(Self.rows.count) rows")
        #expect(Self.rows.count == 172)
    }

    @Test(arguments: TestedTransport.with(.brokenAnswers))
    func plainBodyThatEndsWithTheConnectionIsAccepted(_ tested: TestedTransport) async throws {
        let server = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nplain"))
        #expect(try await tested.make().fetch(server.url).text == "plain")
    }

    @Test(arguments: TestedTransport.with(.wholeBodies))
    func emptyBodyIsWholeOnlyIfTheServerSaysThatItIsEmpty(_ tested: TestedTransport) async throws {
        let transport = try tested.make()
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
        let stated = try ScriptedServer(.raw(head + "Content-Length: 0\r\n\r\n"))
        #expect(try await transport.fetch(stated.url).body.isEmpty)
        for rest in ["Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Connection: close\r\n\r\n"] {
            let server = try ScriptedServer(.raw(head + rest))
            #expect(try await transport.failure(server.url).cause == .reset, "\(rest.debugDescription)")
        }
        for status in ["204 No Content", "304 Not Modified"] {
            let server = try ScriptedServer(.raw("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n\r\n"))
            #expect(try await transport.fetch(server.url).body.isEmpty)
        }
        let server = try ScriptedServer(.answer(200, ["Content-Encoding": "gzip"], data: CompressedSample.gzip.packed))
        #expect(try await transport.fetch(server.url, "HEAD").body.isEmpty)
    }
}
