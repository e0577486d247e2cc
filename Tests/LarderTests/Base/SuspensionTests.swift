import Testing

@testable import LarderSystem

/// Tasks that wait until a thread resumes them.
@Suite struct SuspensionTests {
    @Test func taskGoesOnAtOnceIfThereIsNothingToWaitFor() async {
        #expect(await Suspension.wait { _ in 7 } == 7)
    }

    @Test func taskGoesOnWithTheValueOfTheThreadThatResumesIt() async throws {
        let threads = NamedThreads()
        for number in 1...1_000 {
            let value = await Suspension<Int>.wait { task in
                threads.run(on: "other", atMost: 1) { task.resume(returning: number) }
                return nil
            }
            #expect(value == number)
        }
    }

    @Test func taskThatIsResumedWhileItRegistersGoesOn() async {
        let value = await Suspension<String>.wait { task in
            task.resume(returning: "early")
            return nil
        }
        #expect(value == "early")
    }
}
