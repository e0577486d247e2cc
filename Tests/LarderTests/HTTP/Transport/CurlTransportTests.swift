#if canImport(Glibc) || canImport(Musl)
    import LarderFoundation
    import LarderSystem
    import LarderCore
    import Testing

    @testable import LarderPlugins

    /// Tests of promises that the conformance suite of transports does not check.
    @Suite(.timeLimit(.minutes(20))) struct CurlTransportTests {
        private static let isSlow = ProcessInfo.processInfo.environment["LARDER_SLOW"] != nil

        /// The real world, which opens a gate when nobody uses it any more.
        private final class ObservedWorld: World {
            private let world = SystemWorld()
            private let released: Gate

            init(_ released: Gate) {
                self.released = released
            }

            deinit { released.open() }

            var now: Timestamp { world.now }
            var uptime: Duration { world.uptime }
            func random() -> UInt64 { world.random() }
            func sleep(for duration: Duration) async throws { try await world.sleep(for: duration) }
            func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { world.spawn(work) }
            func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
                try await world.blocking(work)
            }
        }

        private func transport(released: Gate = Gate(), connectionsPerHost: Int = 6) throws -> CurlTransport {
            try CurlTransport(world: ObservedWorld(released), connectionsPerHost: connectionsPerHost)
        }

        @Test func threadAndConnectionsEndWithTransport() async throws {
            let (left, released) = (Gate(), Gate())
            let server = try ScriptedServer(
                .steps(.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .silence, clientLeft: left))
            var transport: CurlTransport? = try transport(released: released)
            #expect(try await transport?.fetch(server.url).text == "ok")
            #expect(!left.isOpen && !released.isOpen)
            transport = nil
            try await left.opened()
            try await released.opened()
        }

        @Test func transportThatWasNeverUsedEndsAtOnce() throws {
            let released = Gate()
            _ = try transport(released: released)
            #expect(released.isOpen)
        }

        @Test func bodyThatIsReadKeepsTheThread() async throws {
            let (gate, released) = (Gate(), Gate())
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
            let server = try ScriptedServer(.steps(.send(head + "so"), .wait(gate), .send("me")))
            var body: HTTPBody? = try await transport(released: released).begin(server.url).body
            #expect(try await body?.next() == Data("so".utf8))
            #expect(!released.isOpen)
            gate.open()
            #expect(try await body?.next() == Data("me".utf8))
            body = nil
            try await released.opened()
        }

        @Test func requestThatChangesSomethingIsSentOnceWhenAKeptConnectionEnds() async throws {
            for (method, times) in [("GET", 3), ("PUT", 3), ("POST", 2), ("PATCH", 2)] {
                let server = try ScriptedServer { $0.number == 2 ? .steps(.close) : .answer(200, [:], "ok") }
                let transport = try transport()
                #expect(try await transport.fetch(server.url).text == "ok")
                if times == 3 {
                    #expect(try await transport.fetch(server.url, method).text == "ok")
                } else {
                    let failure = await #expect(throws: HTTPFailure.self) {
                        try await transport.fetch(server.url, method, body: "change")
                    }
                    #expect(failure?.cause == .reset)
                }
                #expect(server.requests.map(\.method) == ["GET"] + Array(repeating: method, count: times - 1))
            }
        }

        @Test func requestsInFlightAreNeitherLostNorDoubled() async throws {
            let server = try ScriptedServer { .answer(200, [:], $0.path) }
            let transport = try transport()
            let count = Self.isSlow ? 10_000 : 1_000
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let text = try await transport.fetch("\(server.url)/\(number)").text
                        #expect(text == "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(Set(server.requests.map(\.path)).count == count)
            #expect(server.requests.count == count)
            #expect(server.connections <= 6)
        }

        @Test func cancellingAtAnyMomentHarmsNoOtherRequest() async throws {
            let released = Gate()
            let server = try ScriptedServer { .answer(200, [:], String(repeating: $0.path, count: 500)) }
            let world = SystemWorld()
            let counts = Locked((answered: 0, cancelled: 0))
            do {
                let transport = try transport(released: released)
                for _ in 0..<(Self.isSlow ? 200 : 10) {
                    let tasks = (0..<50).map { number in
                        Task {
                            let text = try await transport.fetch("\(server.url)/\(number)").text
                            #expect(text == String(repeating: "/\(number)", count: 500))
                        }
                    }
                    for task in tasks where world.random() % 2 == 0 {
                        for _ in 0..<world.random() % 20 { await Task.yield() }
                        task.cancel()
                    }
                    for task in tasks {
                        let result = await task.result
                        counts.withLock { counts in
                            if case .success = result { counts.answered += 1 } else { counts.cancelled += 1 }
                        }
                        if case .failure(let error) = result { #expect(error is CancellationError, "\(error)") }
                    }
                }
                #expect(try await transport.fetch("\(server.url)/last").body.count == 2_500)
            }
            #expect(counts.withLock { $0.answered > 0 })
            // Nothing of the cancelled requests is left.
            try await released.opened()
        }

        @Test func slowAnswerHoldsUpNoOtherRequestToTheServer() async throws {
            let (asked, gate) = (Gate(), Gate())
            let server = try ScriptedServer { request in
                request.path == "/slow"
                    ? .steps(.open(asked), .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow"))
                    : .answer(200, [:], "quick")
            }
            let transport = try transport()
            async let slow = transport.fetch(server.url + "/slow").text
            try await asked.opened()
            #expect(try await transport.fetch(server.url + "/quick").text == "quick")
            gate.open()
            #expect(try await slow == "slow")
        }

        @Test func cancelledRequestsThatWaitLetThoseBehindThemPass() async throws {
            let (asked, gate) = (Gate(), Gate())
            let server = try ScriptedServer { request in
                request.path == "/slow"
                    ? .steps(.open(asked), .wait(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow"))
                    : .answer(200, [:], request.path)
            }
            let transport = try transport(connectionsPerHost: 1)
            async let slow = transport.fetch(server.url + "/slow").text
            try await asked.opened()
            let waiting = (0..<2_000).map { _ in Task { try await transport.fetch(server.url + "/waiting") } }
            for task in waiting { task.cancel() }
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            async let last = transport.fetch(server.url + "/last").text
            gate.open()
            #expect(try await slow == "slow")
            #expect(try await last == "/last")
            #expect(server.requests.map(\.path) == ["/slow", "/last"])
        }

        @Test func connectionsAreClosedInProgramsThatTheProcessStarts() async throws {
            let server = try ScriptedServer(.answer())
            let transport = try transport()
            _ = try await transport.fetch(server.url)
            let connections = (0..<4_096).filter { Self.peerPort(of: $0) == server.port }
            #expect(connections.count == 1)
            for connection in connections { #expect(fcntl(connection, F_GETFD) & FD_CLOEXEC != 0) }
        }

        private static func peerPort(of descriptor: Int32) -> UInt16? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return code == 0 ? UInt16(bigEndian: address.sin_port) : nil
        }

        @Test func requestThatIsNotValidIsSentNowhere() async throws {
            let server = try ScriptedServer(.answer())
            let transport = try transport()
            let host = "127.0.0.1:\(server.port)/"
            let requests = [
                HTTPRequest(method: "GET / HTTP/1.1\r\nX-A: 1\r\n\r\nGET", url: server.url),
                HTTPRequest(method: "", url: server.url), HTTPRequest(method: "HEAD", url: server.url, body: Data()),
                HTTPRequest(url: server.url + "/a b"), HTTPRequest(url: server.url + "/\r\nX-A: 1"),
                HTTPRequest(url: server.url + "/\0"), HTTPRequest(url: server.url + "/é"),
                HTTPRequest(url: "http://name:canary@" + host), HTTPRequest(url: "file://" + host),
            ]
            for request in requests {
                let failure = await #expect(throws: HTTPFailure.self) {
                    try await transport.send(request, within: .ample, trusting: HTTPTrust())
                }
                #expect(failure?.cause == .other, "\(request.url)")
            }
            #expect(server.requests.isEmpty)
        }
    }
#endif
