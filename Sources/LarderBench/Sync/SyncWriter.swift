// Processes of their own are for systems that have them.
#if canImport(Glibc) || canImport(Musl)
    import Foundation
    import Larder
    import LarderSync
    import LarderSystem

    /// A process of its own that writes a record whenever it is asked to.
    ///
    /// `@unchecked Sendable`: the benchmark uses it from one task at a time.
    final class SyncWriter: @unchecked Sendable {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())

        /// Starts the process, which opens the records in a folder.
        init(_ folder: String) throws {
            process.executableURL = URL(filePath: CommandLine.arguments[0]).absoluteURL
            process.arguments = ["sync", "--write", folder]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            try answer()
        }

        /// Writes a record. When this returns, the write has ended.
        func write(_ number: Int) throws {
            try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8))
            try answer()
        }

        private func answer() throws {
            guard try output.fileHandleForReading.read(upToCount: 1) == Data("\n".utf8) else {
                throw LoadError(.failed, "the process that writes has ended")
            }
        }

        func end() {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }

        /// The work of the process: writes the record of each number in its input.
        static func serve(_ folder: String) async -> Int32 {
            do {
                let pantry = try await SyncBench.pantry(at: folder)
                let notes = pantry.records("notes")
                print(terminator: "\n")
                fflush(nil)
                while let line = readLine() {
                    guard let number = Int(line) else { return 2 }
                    _ = try await notes.create(SyncBench.record(number))
                    print(terminator: "\n")
                    fflush(nil)
                }
                await pantry.close()
                return 0
            } catch {
                note("larder-bench sync: \(error)")
                return 1
            }
        }
    }
#endif
