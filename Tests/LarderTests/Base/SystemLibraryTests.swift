import LarderSystem
import Testing

import LarderFoundation

@Suite struct SystemLibraryTests {
    private static let files = ["no-such-library.so", "libc.so.6", "libc.so", "/usr/lib/libSystem.B.dylib"]

    @Test func missingLibraryIsAnErrorThatNamesThePackage() {
        let failure = #expect(throws: SystemLibrary.Failure.self) {
            try SystemLibrary("libpantry", files: ["libpantry.so.4", "libpantry.so"], package: "libpantry4")
        }
        #expect(failure?.description == "libpantry is missing: install the package libpantry4")
    }

    @Test func functionOfLibraryCanBeCalled() throws {
        let library = try SystemLibrary("the C library", files: Self.files, package: "libc6")
        let absolute = try library.function("abs", as: (@convention(c) (Int32) -> Int32).self)
        #expect(absolute(-3) == 3)
    }

    @Test func missingFunctionIsAnErrorThatNamesIt() throws {
        let library = try SystemLibrary("the C library", files: Self.files, package: "libc6")
        let failure = #expect(throws: SystemLibrary.Failure.self) { try library.address(of: "stock_the_shelves") }
        #expect(failure?.description == "the C library has no function stock_the_shelves")
        #expect(throws: SystemLibrary.Failure.self) { try library.function("abs", as: UInt8.self) }
    }

    @Test func threadOfItsOwnReceivesNoSignals() async {
        let isBlocked = await withCheckedContinuation { waiter in
            let isStarted = SystemThread.start {
                var signals = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &signals)
                waiter.resume(returning: sigismember(&signals, SIGPIPE) == 1 && sigismember(&signals, SIGTERM) == 1)
            }
            if !isStarted { waiter.resume(returning: false) }
        }
        #expect(isBlocked)
    }
}
