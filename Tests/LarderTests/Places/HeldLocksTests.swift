#if os(Linux)
    import LarderFoundation
    import Larder
    import LarderSimulation
    import LarderSystem
    import Testing

    /// Locks of files that a pantry holds. A system may end a process that it has suspended if the process holds a lock in
    /// a folder that it shares.
    @Suite struct HeldLocksTests {
        private static let policies = [
            "_larder": #"{ "metrics": { "file": "metrics.json" }, "log": { "file": "log.jsonl" } }"#,
            "feed": """
            { "resource": "feed", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "1h" }], "refresh": { "every": "1h" },
              "store": { "use": "tiered", "tiers": ["memory", { "use": "sqlite", "limit": "9s" }] } }
            """,
            "images": """
            { "resource": "images", "origin": { "use": "constant", "value": 1 }, "strategy": "cache-first",
              "validators": [{ "use": "age", "fresh": "1h" }], "store": { "use": "file", "limit": "9s" } }
            """,
        ]

        /// Returns the files below a folder that any process has locked.
        private static func locked(below folder: URL) throws -> [String] {
            let inodes = try Disk.read("/proc/locks", limit: 1 << 20).split(separator: UInt8(ascii: "\n")).compactMap {
                String(decoding: $0, as: UTF8.self).split(separator: " ").first { $0.contains(":") && $0.count > 6 }
                    .flatMap { UInt64($0.split(separator: ":").last ?? "") }
            }
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            return paths.filter { path in
                Disk.stamp(of: folder.path + "/" + path).map { inodes.contains($0.inode) } ?? false
            }.sorted()
        }

        @Test func closedPantryHoldsNoLockAlsoIfItIsStillReferenced() async throws {
            let (cache, data) = (try TemporaryFolder(), try TemporaryFolder())
            let pantry = try await Pantry(policies: Self.policies, cache: cache.url, data: data.url)
            for name in ["feed", "images"] { _ = try await pantry.resource(name).load() }
            try await pantry.clear(.scope("alice"))
            #expect(try Self.locked(below: cache.url) != [])
            await pantry.close()
            let left = try Self.locked(below: cache.url) + Self.locked(below: data.url)
            #expect(left == [])
            withExtendedLifetime(pantry) {}
        }

        /// A program that another thread is starting has all open files until it begins.
        @Test func lockEndsAlthoughAnotherProgramStillHasItsFile() throws {
            let temporary = try TemporaryFolder()
            let folder = temporary.url.path
            func copyOfDescriptor(of path: String) throws -> Int32 {
                let open = try #require(
                    FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).first {
                        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
                    })
                return dup(open)
            }
            let path = folder + "/lock"
            let copy = try Disk.locked(path) { try copyOfDescriptor(of: path) }
            defer { close(copy) }
            #expect(try Self.locked(below: temporary.url) == [])

            var held: Disk.HeldFile? = try Disk.HeldFile(in: folder, prefix: "held-")
            let heldPath = try folder + "/" + #require(held).name
            let heldCopy = try copyOfDescriptor(of: heldPath)
            defer { close(heldCopy) }
            #expect(Disk.isHeld(heldPath))
            held = nil
            #expect(!Disk.isHeld(heldPath))
        }
    }
#endif
