import LarderSystem
import LarderFoundation
import Larder
import Testing

@testable import LarderPlugins

/// The rules of the validator `http`, at exact ages.
@Suite struct HTTPValidatorTests: HTTPJudging {
    // MARK: Freshness

    @Test(arguments: [
        ("max-age=60", 59.999_999, "fwer"), ("max-age=60", 60, "r"), ("max-age=0", 0, "r"), ("", 0, "r"),
        ("s-maxage=60", 0, "r"), ("max-age=60, s-maxage=0", 59, "fwer"), ("max-age=x", 0, "r"),
        ("max-age=60, no-cache", 0, "r"), ("no-cache", 0, "r"),
        ("max-age=10, stale-while-revalidate=20", 29.9, "wr"), ("max-age=10, stale-while-revalidate=20", 30, "r"),
        ("max-age=10, stale-if-error=20", 29.9, "er"), ("max-age=10, stale-if-error=20", 30, "r"),
        ("max-age=10, stale-if-error=20, stale-while-revalidate=20", 11, "wer"),
        ("max-age=10, stale-if-error=20, stale-while-revalidate=20, must-revalidate", 9, "fwer"),
        ("max-age=10, stale-if-error=20, stale-while-revalidate=20, must-revalidate", 10, "r"),
        ("max-age=10, stale-if-error=20, stale-while-revalidate=20, no-cache", 1, "r"),
        ("max-age=10, stale-if-error=20, proxy-revalidate", 11, "er"),
        ("max-age=60, private", 1, "fwer"), ("max-age=60, immutable", 1, "fwer"), ("max-age=60, immutable", 60, "r"),
        ("max-age=2147483648", 2_147_483_647, "fwer"), ("max-age=99999999999", 2_147_483_648, "r"),
    ])
    func privateCacheHeedsCacheControl(control: String, seconds: Double, expected: String) throws {
        #expect(try uses(["cache-control": control, "date": Self.date], after: seconds) == expected)
    }

    @Test(arguments: [
        ("max-age=60, s-maxage=10", 9, "fwer"), ("max-age=60, s-maxage=10", 10, "r"), ("s-maxage=10", 9, "fwer"),
        ("s-maxage=10, stale-if-error=60", 11, "r"), ("max-age=10, stale-if-error=60, proxy-revalidate", 11, "r"),
        ("max-age=10, stale-if-error=60", 11, "er"),
    ])
    func sharedCacheHeedsItsOwnDirectives(control: String, seconds: Double, expected: String) throws {
        let validator = HTTPValidator(onError: .seconds(600), isShared: true)
        #expect(try uses(validator, ["cache-control": control], after: seconds) == expected)
    }

    @Test func expiresCountsFromTheDateOfTheServer() throws {
        // The server's clock is a day behind.
        let date = Self.now - .seconds(86_400)
        let fields: Fields = [
            "date": HTTPDates.text(date), "expires": HTTPDates.text(date + .seconds(60)),
        ]
        #expect(try uses(fields, after: 59) == "fwer")
        #expect(try uses(fields, after: 60) == "r")
        #expect(try uses(["expires": HTTPDates.text(Self.now + .seconds(60))], after: 59) == "fwer")
        for text in ["0", "-1", "never", "Thu, 18 Aug 2050 02:01:18 AEST", HTTPDates.text(date)] {
            #expect(try uses(["date": Self.date, "expires": text], after: 0) == "r")
        }
    }

    @Test func maxAgeCountsBeforeExpires() throws {
        let past = HTTPDates.text(Self.now - .seconds(60))
        let future = HTTPDates.text(Self.now + .seconds(60))
        #expect(try uses(["cache-control": "max-age=60", "expires": past], after: 1) == "fwer")
        #expect(try uses(["cache-control": "max-age=0", "expires": future], after: 1) == "r")
    }

    @Test func earliestOfSeveralExpiresCounts() throws {
        var fields: Fields = ["date": Self.date, "expires": HTTPDates.text(Self.now + .seconds(60))]
        fields.add(try #require(Fields.Field("expires", HTTPDates.text(Self.now + .seconds(30)))))
        #expect(try uses(fields, after: 29) == "fwer")
        #expect(try uses(fields, after: 30) == "r")
    }

    @Test func ageOfACacheOnTheWayShortensFreshness() throws {
        let fields: Fields = ["cache-control": "max-age=60", "age": "50"]
        #expect(try uses(fields, after: 9) == "fwer")
        #expect(try uses(fields, after: 10) == "r")
    }

    @Test func heuristicIsAShareOfTheTimeSinceTheLastChange() throws {
        let fields: Fields = ["date": Self.date, "last-modified": HTTPDates.text(Self.now - .seconds(1_000))]
        #expect(try uses(fields, after: 0) == "r")
        let guessing = HTTPValidator(heuristic: 0.1)
        #expect(try uses(guessing, fields, after: 99) == "fwer")
        #expect(try uses(guessing, fields, after: 100) == "r")
        var explicit = fields
        explicit["cache-control"] = "max-age=5"
        #expect(try uses(guessing, explicit, after: 5) == "r")
        #expect(try uses(guessing, ["date": Self.date, "last-modified": "never"], after: 0) == "r")
        #expect(
            try uses(
                guessing, ["date": Self.date, "last-modified": HTTPDates.text(Self.now + .seconds(9))], after: 0)
                == "r")
    }

    // MARK: The policy's windows

    @Test func windowsOfThePolicyHoldWhereTheServerIsSilent() throws {
        let week = HTTPValidator(
            fresh: .seconds(10), whileRevalidating: .seconds(20), onError: .seconds(604_800))
        #expect(try uses(week, ["date": Self.date], after: 9) == "fwer")
        #expect(try uses(week, ["date": Self.date], after: 29) == "wer")
        #expect(try uses(week, ["date": Self.date], after: 604_809) == "er")
        #expect(try uses(week, ["date": Self.date], after: 604_810) == "r")
        #expect(try uses(week, ["cache-control": "max-age=60"], after: 59) == "fwer")
        #expect(try uses(week, ["cache-control": "max-age=60"], after: 604_859) == "er")
        #expect(try uses(week, ["cache-control": "max-age=60, stale-if-error=5"], after: 65) == "wr")
        #expect(try uses(week, ["cache-control": "max-age=60, must-revalidate"], after: 60) == "r")
        #expect(try uses(week, ["cache-control": "no-cache"], after: 0) == "r")
    }

    @Test func trustedPolicyWinsWhereBothSpeak() throws {
        let policy = HTTPValidator(fresh: .seconds(300), onError: .seconds(600), trust: .policy)
        #expect(try uses(policy, ["cache-control": "max-age=0, must-revalidate"], after: 299) == "fwer")
        #expect(try uses(policy, ["cache-control": "no-cache"], after: 299) == "fwer")
        #expect(try uses(policy, ["cache-control": "max-age=9999"], after: 300) == "er")
        // It says nothing about this window.
        #expect(try uses(policy, ["cache-control": "stale-while-revalidate=9"], after: 308) == "wer")
        let silent = HTTPValidator(trust: .policy)
        #expect(try uses(silent, ["cache-control": "max-age=60"], after: 59) == "fwer")
    }

    @Test(arguments: ["no-store", "no-store, max-age=60", "max-age=60, no-store, public"])
    func trustedPolicyDoesNotOverrideNoStore(control: String) throws {
        let policy = HTTPValidator(fresh: .seconds(300), trust: .policy)
        #expect(try admission(policy, Self.answer(["cache-control": control])) == .useOnly)
        #expect(try uses(policy, ["cache-control": control], after: 0) == "")
    }

    @Test func entryWithoutFieldsHasTheWindowsOfThePolicy() throws {
        let validator = HTTPValidator(fresh: .seconds(10), onError: .seconds(20), trust: .server)
        var entry = Entry(Data(), Metadata(fetchedAt: Self.now))
        #expect(try validator.admit(&entry, from: .origin, for: Self.request()) == .keep)
        #expect(entry.metadata[.serverRules] == nil && entry.metadata[.freshness] == "http.fresh 10s")
        for (seconds, expected) in [(9, "fwer"), (10, "er"), (30, "r")] {
            let permissions = validator.permit(
                entry.metadata, for: Self.request(), at: Self.now + .seconds(seconds))
            #expect(Self.letters(permissions) == expected)
        }
    }

    @Test func copyFromTheFutureIsStaleAndItsWindowsBeginNow() throws {
        #expect(try uses(["cache-control": "max-age=60, stale-if-error=5"], after: -1) == "er")
    }

    @Test func reasonsNameTheDirectiveThatDecided() throws {
        let validator = HTTPValidator(onError: .seconds(604_800))
        for (fields, fresh, onError) in [
            (["cache-control": "max-age=60"] as Fields, "http max-age 60", "http.onError 7d"),
            (["cache-control": "max-age=60, must-revalidate"], "http max-age 60", "http must-revalidate"),
            (["cache-control": "no-cache"], "http no-cache", "http no-cache"),
            (["cache-control": "max-age=60, stale-if-error=9"], "http max-age 60", "http stale-if-error 9"),
            (
                ["date": Self.date, "expires": HTTPDates.text(Self.now + .seconds(30))], "http expires 30",
                "http.onError 7d"
            ),
            ([:], "http.fresh none", "http.onError 7d"),
        ] {
            var entry = Self.answer(fields)
            _ = try validator.admit(&entry, from: .origin, for: Self.request())
            #expect(entry.metadata[.freshness] == fresh)
            let stale = validator.permit(entry.metadata, for: Self.request(), at: Self.now + .seconds(61))
            #expect(stale.reasons(for: .fresh) == [fresh] && stale.reasons(for: .onError) == [onError])
        }
    }

    @Test func freshCopyHasNoReasonsAndNamesItsLifetime() throws {
        var entry = Self.answer(["cache-control": "max-age=60"])
        let validator = HTTPValidator()
        _ = try validator.admit(&entry, from: .origin, for: Self.request())
        let permissions = validator.permit(entry.metadata, for: Self.request(), at: Self.now)
        #expect(permissions.freshFor == .seconds(60) && permissions.reasons(for: .all) == [])
    }

    @Test func immutableCopyIsNotRefreshedEarly() throws {
        for (control, isPermitted) in [("max-age=60", true), ("max-age=60, immutable", false)] {
            var entry = Self.answer(["cache-control": control])
            _ = try HTTPValidator().admit(&entry, from: .origin, for: Self.request())
            let permissions = HTTPValidator().permit(entry.metadata, for: Self.request(), at: Self.now)
            #expect(permissions.allows(.earlyRefresh) == isPermitted && permissions.allows(.fresh))
        }
    }
}
