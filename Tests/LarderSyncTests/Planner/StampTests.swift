import Larder
import Testing

@testable import LarderSync

/// Times of changes follow cause, whatever the clocks say.
struct StampTests {
    @Test(arguments: [
        (StampFormat.iso8601, "\"2026-05-01T10:00:00Z\""), (.iso8601Milliseconds, "\"2026-05-01T10:00:00.250Z\""),
        (.seconds, "1777629600"), (.milliseconds, "1777629600250"),
    ])
    func timeIsReadAndWritten(_ format: StampFormat, _ text: String) throws {
        let time = try #require(format.time(JSONText(text: text)))
        #expect(format.text(time).text == text)
        #expect(format.rounded(1_777_629_600_250) == time)
    }

    @Test(arguments: ["\"2026-13-01T10:00:00Z\"", "\"2026-02-30T10:00:00Z\"", "\"today\"", "1e99", "null", "\"\""])
    func otherTextsAreNoTimes(_ text: String) throws {
        for format in StampFormat.allCases { #expect(format.time(try JSONText(text: text)) == nil) }
    }

    @Test func changeIsLaterThanWhatItsUserSaw() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"t":9000000}"#) {
            $0.stamp = StampPlace(path: ["t"], format: .milliseconds)
        }
        try sample.set("a", "2")
        #expect(sample.row.writes[0].stamp == 9_000_001)
        #expect(sample.shown == #"{"id":"r","a":2,"t":9000001}"#)
    }

    @Test func stampIsAsPreciseAsItIsWritten() throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"t":5}"#) {
            $0.stamp = StampPlace(path: ["t"], format: .seconds)
        }
        sample.moment.now = 7_900
        try sample.set("a", "2")
        #expect(sample.row.writes[0].stamp == 7_000)
    }

    @Test func changesAtTheSameTimeAreDecidedAlikeOnAllDevices() throws {
        let values = ["\"left\"", "\"right\""]
        let results = try values.indices.map { mine in
            var sample = try PlannerSample(#"{"rev":1,"id":"r","a":0,"t":5}"#) {
                $0.stamp = StampPlace(path: ["t"], format: .milliseconds)
                $0.versionPath = ["rev"]
                $0.conflict = LastWriteWins(isAboutRecords: true)
            }
            sample.moment.now = 99
            try sample.set("a", values[mine])
            try sample.pull(#"{"rev":2,"id":"r","a":\#(values[1 - mine]),"t":100}"#)
            return sample.planner.shown(sample.row)?["a"]?.text
        }
        #expect(results[0] == results[1])
    }
}
