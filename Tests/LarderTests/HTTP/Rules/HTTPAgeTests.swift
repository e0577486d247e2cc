import LarderSystem
import Larder
@testable import LarderPlugins
import Testing

@Suite struct HTTPAgeTests {
    private let arrived = Timestamp(seconds: 1_795_348_800)

    private func age(_ fields: Fields, after delay: Duration = .zero) -> Duration {
        HTTPAge.initial(fields, asked: arrived - delay, arrived: arrived)
    }

    @Test func namedAgeCountsFromTheTimeOfTheRequest() {
        #expect(age(["age": "30"]) == .seconds(30))
        #expect(age(["age": "30"], after: .seconds(2)) == .seconds(32))
        #expect(age([:], after: .milliseconds(40)) == .milliseconds(40))
        #expect(age([:]) == .zero)
    }

    @Test func clockThatGoesBackDuringTheExchangeAddsNothing() {
        #expect(age(["age": "30"], after: .seconds(-5)) == .seconds(30))
    }

    @Test(arguments: [
        ("0", 0), ("007", 7), ("4294967296", 1 << 31), ("99999999999999999999999999", 1 << 31), ("5, 9", 5), (" 5 ", 5),
        ("", 0), ("-1", 0), ("+1", 0), ("1.5", 0), ("1s", 0), ("abc", 0), (", 5", 0), ("\"5\"", 0), ("٥", 0),
    ])
    func ageThatIsNoNumberIsIgnored(value: String, seconds: Int) {
        #expect(age(["age": value]) == .seconds(seconds))
    }

    @Test func firstOfSeveralAgesCounts() throws {
        var fields: Fields = ["age": "5"]
        fields.add(try #require(Fields.Field("age", "9")))
        #expect(age(fields) == .seconds(5))
    }

    @Test func dateIsNotComparedWithAClockThatMayBeWrong() {
        let old = HTTPDates.text(arrived - .seconds(86_400))
        #expect(age(["date": old]) == .zero)
        #expect(age(["date": old, "age": "5"]) == .seconds(5))
        #expect(age(["date": old, "via": "1.1 cache"]) == .zero)
    }

    @Test func dateCountsBehindACacheThatNamesNoAge() {
        let old = HTTPDates.text(arrived - .seconds(60))
        #expect(age(["date": old, "via": "1.0 cache"]) == .seconds(60))
        #expect(age(["date": old, "via": "1.1 a, HTTP/1.0 b"]) == .seconds(60))
        #expect(age(["date": old, "via": "1.0 cache", "age": "90"]) == .seconds(90))
        #expect(age(["date": HTTPDates.text(arrived + .seconds(60)), "via": "1.0 cache"]) == .zero)
        #expect(age(["date": "yesterday", "via": "1.0 cache"]) == .zero)
    }
}
