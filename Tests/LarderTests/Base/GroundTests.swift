import Dispatch
import Larder
import LarderSystem
import Testing

@Suite struct TimestampTests {
    private let first = Timestamp(nanoseconds: .min)
    private let last = Timestamp(nanoseconds: .max)
    private let zero = Timestamp(nanoseconds: 0)

    @Test func arithmeticSaturates() {
        #expect(last + .nanoseconds(1) == last && last + .forever == last && zero + .forever == last)
        #expect(first - .nanoseconds(1) == first && first - .forever == first)
        #expect(last + .seconds(Int64.max) == last && first + .seconds(Int64.min) == first)
        #expect(first - .seconds(Int64.max) == first && last - .seconds(Int64.min) == last)
        #expect(last - first == .forever && first - last == .nanoseconds(Int64.min))
        #expect(Timestamp(seconds: .max) == last && Timestamp(seconds: .min) == first)
    }

    @Test func arithmeticIsExactInside() {
        let time = Timestamp(seconds: 1_767_571_200)
        #expect(time.nanoseconds == 1_767_571_200_000_000_000)
        #expect((time + .nanoseconds(1)) - time == .nanoseconds(1) && time - (time + .seconds(5)) == .seconds(-5))
        #expect(time - .seconds(5) + .seconds(5) == time && time - .seconds(5) < time)
    }

    @Test func nanosecondsOfADurationSaturate() {
        #expect(Duration.seconds(Int64.max).nanoseconds == .max && Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.forever.nanoseconds == .max && Duration.zero.nanoseconds == 0)
        #expect((Duration.forever + .nanoseconds(1)).nanoseconds == .max)
        #expect((Duration.nanoseconds(Int64.min) - .nanoseconds(1)).nanoseconds == .min)
        #expect(Duration.nanoseconds(-1_500_000_001).nanoseconds == -1_500_000_001)
    }

    @Test func scaledDurationStaysBetweenZeroAndForever() {
        #expect(Duration.seconds(10).scaled(by: 1.5) == .seconds(15) && Duration.seconds(10).scaled(by: 0) == .zero)
        #expect(Duration.seconds(10).scaled(by: -1) == .zero && Duration.seconds(-1).scaled(by: 2) == .zero)
        #expect(Duration.seconds(10).scaled(by: 1e30) == .forever && Duration.forever.scaled(by: 2) == .forever)
        #expect(Duration.seconds(1).scaled(by: .infinity) == .forever)
    }

    @Test(
        arguments: [
            (.zero, "0 s", "0s"), (.nanoseconds(999), "999 ns", "0s"), (.nanoseconds(1_500), "1.5 µs", "0s"),
            (.milliseconds(1), "1 ms", "1ms"), (.milliseconds(800), "800 ms", "800ms"),
            (.milliseconds(1_500), "1.5 s", "1500ms"), (.milliseconds(1_950), "1.9 s", "1950ms"),
            (.milliseconds(59_999), "59 s", "59999ms"), (.seconds(60), "1 min", "1m"), (.seconds(90), "1.5 min", "90s"),
            (.seconds(3_600 * 3), "3 h", "3h"), (.seconds(86_400 * 7), "7 d", "7d"),
            (.seconds(86_400 * 365), "365 d", "365d"),
            (.forever, "forever", "forever"), (.seconds(Int64.max), "forever", "forever"),
            (.seconds(-90), "-1.5 min", "-90s"),
        ] as [(Duration, String, String)])
    func durationHasShortTextAndSpelling(duration: Duration, brief: String, spelled: String) {
        #expect(duration.brief == brief && duration.spelled == spelled)
    }
}

@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func digestsAreThoseOfTheStandard(text: String, digest: String) {
        #expect(SHA256.hex(text.utf8) == digest)
    }
}

@Suite struct LockedTests {
    @Test func noUpdateIsLostUnderContention() {
        let count = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<50_000 { count.withLock { $0 += 1 } }
        }
        #expect(count.withLock { $0 } == 200_000)
    }

    @Test func lockIsReleasedIfBodyThrows() {
        struct Failure: Error {}
        let value = Locked(1)
        #expect(throws: Failure.self) {
            try value.withLock { value in
                value = 2
                throw Failure()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
