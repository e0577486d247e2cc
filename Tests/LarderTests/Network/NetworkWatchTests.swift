import Testing

@testable import LarderSystem

@Suite(.timeLimit(.minutes(20))) struct NetworkWatchTests {
    @Test func nothingIsWatchedBeforeFirstUseAndOnceAfterwards() async {
        let starts = Locked(0)
        let watch = NetworkWatch { report in
            starts.withLock { $0 += 1 }
            report(.offline)
        }
        #expect(starts.withLock { $0 } == 0)
        await withTaskGroup(of: NetworkState.self) { group in
            for _ in 0..<8 { group.addTask { watch.network.state } }
            for await state in group { #expect(state == .offline) }
        }
        #expect(starts.withLock { $0 } == 1)
    }

    @Test func firstUseWaitsForStateFromOtherThread() {
        let thread = BlockingThreads(limit: 1)
        let watch = NetworkWatch(patience: 600_000) { report in thread.run { report(.online) } }
        #expect(watch.network.state == .online)
    }

    @Test func lateStateIsUnknownUntilItIsTold() async {
        let tell = Locked<(@Sendable (NetworkState) -> Void)?>(nil)
        let watch = NetworkWatch(patience: 1) { report in tell.withLock { $0 = report } }
        #expect(watch.network.state == .unknown)
        var states = watch.network.changes.makeAsyncIterator()
        #expect(await states.next() == .unknown)
        let report = tell.withLock { $0 }
        for state in [NetworkState.offline, .online] {
            report?(state)
            #expect(watch.network.state == state)
            #expect(await states.next() == state)
        }
    }
}

@Suite struct NetworkKindTests {
    /// Returns the state with an interface of this description, and `files` in the folder about it.
    private func state(
        _ name: String = "net0", hardware: UInt16 = 1, driver: String? = nil, files: [String: String] = [:]
    ) throws -> NetworkState {
        let folder = try Folder()
        for (file, text) in files {
            let path = folder.path + "/" + name
            try Disk.makeFolder(path)
            if file.hasSuffix("/") {
                try Disk.makeFolder(path + "/" + file)
            } else {
                try folder.write(text, to: name + "/" + file)
            }
        }
        let interface = NetworkMessages.interface(7, name, hardware: hardware, driver: driver)
        let table = RoutingTable(interface, NetworkMessages.route(by: [NetworkMessages.through(7)]))
        return NetworkState(table, interfaces: folder.path)
    }

    @Test func noWayOutIsOffline() {
        #expect(NetworkState(RoutingTable()) == .offline)
    }

    @Test func kindIsThatOfInterface() throws {
        let uevent = "INTERFACE=net0\nIFINDEX=7\n"
        let cases: [(NetworkState, NetworkState.Kind?)] = [
            (try state(files: ["uevent": uevent, "device/": ""]), .wired),
            (try state(files: ["uevent": uevent]), .other),
            (try state(hardware: 65_534, files: ["uevent": uevent, "device/": ""]), .other),
            (try state(files: ["uevent": "DEVTYPE=wlan\n" + uevent, "device/": ""]), .wifi),
            (try state(files: ["uevent": uevent, "phy80211/": "", "device/": ""]), .wifi),
            (try state(files: ["uevent": uevent, "wireless/": "", "device/": ""]), .wifi),
            (try state(driver: "veth", files: ["uevent": uevent]), .other),
            (try state(hardware: 65_534, driver: "wireguard"), .other),
            // The folder tells about another interface of this name, or not at all.
            (try state(files: ["uevent": "INTERFACE=net0\nIFINDEX=2\n", "device/": ""]), nil),
            (try state(), nil), (try state(".", files: ["uevent": uevent]), nil), (try state("../x"), nil),
            (try state(""), nil),
        ]
        for (number, (state, kind)) in cases.enumerated() {
            #expect(state == NetworkState(.online, kind: kind), "case \(number)")
        }
    }

    @Test func mobileNetworkIsExpensive() throws {
        let expected = NetworkState(.online, kind: .cellular, isExpensive: true)
        #expect(try state("wwan0", hardware: 65_534) == expected)
        #expect(try state(hardware: 519) == expected)
        #expect(try state(driver: "wwan") == expected)
        #expect(try state(files: ["uevent": "DEVTYPE=wwan\nIFINDEX=7\n"]) == expected)
    }
}
