#if canImport(Glibc) || canImport(Musl)
    import LarderFoundation
    import LarderSystem
    import LarderCore
    import Testing

    @testable import LarderPlugins

    @Suite(.timeLimit(.minutes(5))) struct CurlEngineTests {
        /// An object that opens a gate when nobody uses it any more.
        private final class Token: Sendable {
            private let released: Gate

            init(_ released: Gate) {
                self.released = released
            }

            deinit { released.open() }
        }

        private func exchange(
            _ url: String, in engine: CurlEngine, answering pending: PendingAnswer = PendingAnswer(),
            holding token: Token? = nil
        ) -> CurlExchange {
            CurlExchange(
                HTTPRequest(url: url), number: engine.nextNumber(), in: engine, within: .ample, trusting: HTTPTrust(),
                answering: pending,
                HTTPBody.Control {
                    withExtendedLifetime(token) {}
                } cancel: {
                })
        }

        @Test func requestsFailWhileNoThreadStartsAndLaterOnesAreSent() async throws {
            let server = try ScriptedServer(.answer(200, [:], "ok"))
            let pending = [PendingAnswer(), PendingAnswer()]
            let starts = Locked(0)
            let second = Locked<(@Sendable () -> Void)?>(nil)
            let engine = try CurlEngine(CurlLibrary(), world: SystemWorld(), connectionsPerHost: 6) { work in
                let isFirst = starts.withLock { starts in
                    starts += 1
                    return starts == 1
                }
                guard isFirst else { return SystemThread.start(work) }
                // Another request arrives while the thread is being started.
                second.withLock { $0.take() }?()
                return false
            }
            let (first, other) = (
                exchange(server.url, in: engine, answering: pending[0]),
                exchange(server.url, in: engine, answering: pending[1])
            )
            second.withLock { $0 = { engine.start(other) } }
            engine.start(first)
            for pending in pending {
                let failure = await #expect(throws: HTTPFailure.self) { try await pending.answer() }
                #expect(failure?.description == "the system has no thread left")
            }
            engine.cancel(first.number)
            let transport = CurlTransport(engine)
            #expect(try await transport.fetch(server.url).text == "ok")
            #expect(starts.withLock { $0 } == 2 && server.requests.count == 1)
        }

        @Test func cancelledRequestIsForgottenBeforeItsTurn() async throws {
            let (asked, forgotten) = (Gate(), Gate())
            let server = try ScriptedServer(.steps(.open(asked), .silence))
            let engine = try CurlEngine(CurlLibrary(), world: SystemWorld(), connectionsPerHost: 1)
            let transport = CurlTransport(engine)
            let slow = Task { try await transport.fetch(server.url) }
            try await asked.opened()
            var waiting: CurlExchange? = exchange(server.url, in: engine, holding: Token(forgotten))
            let number = waiting?.number ?? 0
            if let waiting { engine.start(waiting) }
            waiting = nil
            #expect(!forgotten.isOpen)
            engine.cancel(number)
            try await forgotten.opened()
            slow.cancel()
            await #expect(throws: CancellationError.self) { try await slow.value }
            #expect(server.requests.count == 1)
        }

        @Test func libraryThatWasMissingIsFoundOnceItIsInstalled() async throws {
            let failure = #expect(throws: SystemLibrary.Failure.self) { try CurlLibrary(files: ["libabsent.so.4"]) }
            #expect(failure?.description == "libcurl is missing: install the package libcurl4")
            let server = try ScriptedServer(.answer(200, [:], "ok"))
            let transport = try CurlTransport(world: SystemWorld(), connectionsPerHost: 6)
            #expect(try await transport.fetch(server.url).text == "ok")
        }
    }
#endif
