import Larder
@testable import LarderPlugins
import Testing

@Suite struct HTTPDatesTests {
    /// 2026-11-22 12:00:00.
    private let now = Timestamp(seconds: 1_795_348_800)

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun Nov 06 08:49:37 1994", 784_111_777),
        ("sUN, 06 nOV 1994 08:49:37 gmt", 784_111_777),
        (" \tSun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Mon, 22 Nov 2026 12:00:00 GMT", 1_795_348_800),
        // A wrong day of the week does not change the time.
        ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
    func dateIsReadInAllThreeForms(text: String, seconds: Int) {
        #expect(HTTPDates.parse(text, now: now) == Timestamp(seconds: Int64(seconds)))
    }

    @Test(arguments: [
        "", " ", "0", "-1", "never", "Sun", "Sun,", "Sun, ", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun,  06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 31 Apr 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov +994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Növ 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994\n08:49:37 GMT",
    ])
    func textThatIsNoDateIsRefused(text: String) {
        #expect(HTTPDates.parse(text, now: now) == nil)
    }

    @Test func longTextIsRefused() {
        #expect(HTTPDates.parse(String(repeating: " ", count: 65_000), now: now) == nil)
        #expect(
            HTTPDates.parse("Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: "0", count: 65_000), now: now) == nil)
    }

    @Test(arguments: [
        // From 2026-11-22 12:00:00, the year 2076 is 50 years away.
        ("Sunday, 22-Nov-76 12:00:00 GMT", "Sun, 22 Nov 2076 12:00:00 GMT"),
        ("Sunday, 22-Nov-76 12:00:01 GMT", "Mon, 22 Nov 1976 12:00:01 GMT"),
        ("Sunday, 23-Nov-76 00:00:00 GMT", "Tue, 23 Nov 1976 00:00:00 GMT"),
        ("Sunday, 21-Nov-76 23:59:59 GMT", "Sat, 21 Nov 2076 23:59:59 GMT"),
        ("Sunday, 01-Dec-76 00:00:00 GMT", "Wed, 01 Dec 1976 00:00:00 GMT"),
        ("Sunday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"),
        ("Sunday, 01-Jan-26 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("Sunday, 01-Jan-27 00:00:00 GMT", "Fri, 01 Jan 2027 00:00:00 GMT"),
        ("Sunday, 31-Dec-99 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:59 GMT"),
        ("Sunday, 01-Jan-00 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"),
    ])
    func yearOfTwoDigitsIsAtMostFiftyYearsAway(text: String, full: String) {
        #expect(HTTPDates.parse(text, now: now).map(HTTPDates.text) == full)
    }

    @Test func datesOutsideTheRangeOfTimesAreTheNearestTime() {
        #expect(HTTPDates.parse("Fri, 31 Dec 9999 23:59:59 GMT", now: now) == Timestamp(nanoseconds: .max))
        #expect(HTTPDates.parse("Sat, 01 Jan 0000 00:00:00 GMT", now: now) == Timestamp(nanoseconds: .min))
        #expect(HTTPDates.text(Timestamp(nanoseconds: .max)) == "Fri, 11 Apr 2262 23:47:16 GMT")
        #expect(HTTPDates.text(Timestamp(nanoseconds: .min)) == "Tue, 21 Sep 1677 00:12:43 GMT")
    }

    @Test func writtenDateIsReadAsTheSameTime() {
        for day in stride(from: -100_000, to: 100_000, by: 37) {
            let time = Timestamp(seconds: Int64(day) * 86_400 + Int64(abs(day) % 86_400))
            #expect(HTTPDates.parse(HTTPDates.text(time), now: now) == time)
        }
    }
}
