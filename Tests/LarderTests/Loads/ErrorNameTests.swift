import Foundation
import Larder
import LarderSimulation
import Testing

/// Foreign errors are named by type, domain and code, and never by their texts.
@Suite struct ErrorNameTests {
    private struct Outage: Error { var secret = "hunter2" }
    private enum Trouble: Error { case first, second }

    private static let told: [(any Error & Sendable, String)] = [
        (
            URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "https://hunter2.example"]),
            "URLError -1001"
        ),
        (URLError(.cannotConnectToHost), "URLError -1004"),
        (POSIXError(.ECONNREFUSED), "POSIXError 111"),
        (CocoaError(.fileNoSuchFile), "CocoaError 4"),
        (
            NSError(domain: NSURLErrorDomain, code: -1009, userInfo: [NSLocalizedDescriptionKey: "hunter2"]),
            "NSError NSURLErrorDomain -1009"
        ),
        (NSError(domain: "shop\u{1B}[31m", code: 7), "NSError shop31m 7"),
        (Outage(), "Outage"), (Trouble.second, "Trouble"),
    ]

    @Test(arguments: told.indices) func foreignErrorIsNamedByTypeAndCode(_ number: Int) throws {
        let (error, name) = Self.told[number]
        #expect(LoadError.name(of: error) == name)
        try SimulatedWorld().run { world in
            let simulated = try await SimulatedPantry(world, strategy: #""network-first""#)
            simulated.origin.play(then: .throwing(error))
            let failure = try #require(await #expect(throws: LoadError.self) { try await simulated.feed.load() })
            #expect(failure.message == "failed with \(name)" && failure.code == .failed)
            #expect(!"\(failure) \(failure.trail)".contains("hunter2"))
            #expect("\(StoreFault(tier: "disk", error: error))" == "disk: \(name)")
        }
    }
}
