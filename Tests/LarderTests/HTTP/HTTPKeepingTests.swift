import LarderFoundation
import Larder
import Testing

@testable import LarderPlugins

/// The answers that the validator `http` lets be kept, and the wishes of requests that it heeds.
@Suite struct HTTPKeepingTests: HTTPJudging {
    // MARK: Requests

    @Test(arguments: [
        ("no-cache", 5, "r"), ("no-store", 5, "fwe"), ("max-age=6", 5, "fwer"), ("max-age=5", 5, "er"),
        ("max-age=0", 0, "er"), ("min-fresh=54", 5, "fwer"), ("min-fresh=55", 5, "er"), ("min-fresh=x", 0, "er"),
        ("max-stale", 400, "wer"), ("max-stale=10", 69, "wer"), ("max-stale=10", 70, "er"),
        ("max-stale=10", 400, "r"), ("max-age=70", 61, "er"), ("max-age=70, max-stale=9", 61, "wer"),
        ("max-age=5, max-stale=2", 6, "wer"),
        ("max-age=5, max-stale=2", 7, "er"), ("stale-if-error=2", 61, "wer"), ("stale-if-error=2", 62, "wr"),
        ("only-if-cached", 5, "fwer"), ("x=1", 61, "wer"),
    ])
    func wishesOfTheRequestAreHeeded(control: String, seconds: Double, expected: String) throws {
        let fields: Fields = ["cache-control": "max-age=60, stale-while-revalidate=5, stale-if-error=100"]
        #expect(try uses(fields, after: seconds, for: ["cache-control": control]) == expected)
    }

    @Test func requestDoesNotOverrideTheServer() throws {
        for control in ["max-age=60, must-revalidate", "no-cache"] {
            for wish in ["max-stale", "stale-if-error=99999", "max-age=99999"] {
                let found = try uses(["cache-control": control], after: 60, for: ["cache-control": wish])
                #expect(found == "r")
            }
        }
    }

    @Test func pragmaCountsOnlyWithoutCacheControl() throws {
        let fields: Fields = ["cache-control": "max-age=60"]
        #expect(try uses(fields, after: 1, for: ["pragma": "No-Cache"]) == "r")
        #expect(try uses(fields, after: 1, for: ["pragma": "no-cache", "cache-control": "max-age=60"]) == "fwer")
        #expect(try uses(fields, after: 1, for: ["accept": "no-cache"]) == "fwer")
        #expect(try uses(["cache-control": "max-age=60", "pragma": "no-cache"], after: 1) == "fwer")
    }

    // MARK: Keeping

    @Test(arguments: [
        ("", false, false, Admission.keep, Admission.keep), ("no-store", false, false, .useOnly, .useOnly),
        ("private", false, false, .keep, .useOnly), ("private=\"x\"", false, false, .keep, .useOnly),
        ("public, private", false, false, .keep, .useOnly),
        ("max-age=60", true, false, .keep, .useOnly), ("max-age=60, public", true, false, .keep, .keep),
        ("s-maxage=60", true, false, .keep, .keep), ("max-age=60, must-revalidate", true, false, .keep, .keep),
        ("max-age=60", false, true, .keep, .useOnly), ("max-age=60, public", false, true, .keep, .keep),
        ("must-understand, no-store", false, false, .keep, .keep),
    ])
    func answerForOneUserIsNotKeptForSeveral(
        control: String, isAuthorized: Bool, setsCookie: Bool, expected: Admission, shared: Admission
    ) throws {
        let answer = Self.answer(control.isEmpty ? [:] : ["cache-control": control], setsCookie: setsCookie)
        let asked: Fields = isAuthorized ? ["Authorization": "secret"] : [:]
        for arrival in [Arrival.origin, .unchanged] {
            #expect(try admission(HTTPValidator(), answer, arrival, for: asked) == expected)
            #expect(try admission(HTTPValidator(isShared: true), answer, arrival, for: asked) == shared)
        }
    }

    @Test(arguments: [
        (200, Admission.keep, Admission.keep), (203, .keep, .keep), (204, .keep, .keep), (300, .keep, .keep),
        (301, .keep, .keep), (308, .keep, .keep), (201, .useOnly, .keep), (202, .useOnly, .keep),
        (205, .useOnly, .keep), (302, .useOnly, .keep), (307, .useOnly, .keep), (206, .useOnly, .useOnly),
        (304, .useOnly, .useOnly), (404, .useOnly, .useOnly), (500, .useOnly, .useOnly), (199, .useOnly, .useOnly),
    ])
    func statusSaysWhetherAnAnswerIsKept(status: Int, silent: Admission, explicit: Admission) throws {
        #expect(try admission(HTTPValidator(), Self.answer([:], status: status)) == silent)
        #expect(
            try admission(HTTPValidator(), Self.answer(["cache-control": "max-age=9"], status: status)) == explicit)
        #expect(try admission(HTTPValidator(), Self.answer(["cache-control": "public"], status: status)) == explicit)
    }

    @Test func unknownStatusThatMustBeUnderstoodIsNotKept() throws {
        let answer = Self.answer(["cache-control": "must-understand, max-age=60"], status: 299)
        #expect(try admission(HTTPValidator(), answer) == .useOnly)
    }

    @Test func answerThatVariesByEverythingIsNotKept() throws {
        for trust in HTTPValidator.Trust.allCases {
            let validator = HTTPValidator(fresh: .seconds(60), trust: trust)
            #expect(try admission(validator, Self.answer(["vary": "accept, *"])) == .useOnly)
        }
    }

    @Test func requestWithNoStoreConcernsItsOwnAnswerOnly() throws {
        let asked: Fields = ["cache-control": "no-store"]
        for (arrival, expected) in [(Arrival.origin, Admission.useOnly), (.unchanged, .keep), (.store, .keep)] {
            #expect(
                try admission(HTTPValidator(), Self.answer(["cache-control": "max-age=9"]), arrival, for: asked)
                    == expected)
        }
    }

    // MARK: Notes

    @Test func unchangedAnswerMakesTheNotesAnew() throws {
        let validator = HTTPValidator()
        var entry = Self.answer(["cache-control": "max-age=60", "x-kept": "1"])
        _ = try validator.admit(&entry, from: .origin, for: Self.request())
        try entry.metadata.confirm(httpFields: ["cache-control": "max-age=5"], askedAt: Self.now, arrivedAt: Self.now)
        #expect(try validator.admit(&entry, from: .unchanged, for: Self.request()) == .keep)
        #expect(entry.metadata[.freshness] == "http max-age 5" && entry.metadata.fields["x-kept"] == "1")
        #expect(validator.permit(entry.metadata, for: Self.request(), at: Self.now).freshFor == .seconds(5))
        try entry.metadata.confirm(httpFields: ["cache-control": "no-store"], askedAt: Self.now, arrivedAt: Self.now)
        #expect(try validator.admit(&entry, from: .unchanged, for: Self.request()) == .useOnly)
    }

    @Test func copyWithoutANoteIsJudgedByItsFields() throws {
        var entry = Self.answer(["cache-control": "max-age=60"])
        let validator = HTTPValidator()
        #expect(validator.permit(entry.metadata, for: Self.request(), at: Self.now).freshFor == .seconds(60))
        #expect(try validator.admit(&entry, from: .store, for: Self.request()) == .keep)
        #expect(entry.metadata[.serverRules] != nil)
        #expect(try admission(validator, Self.answer(["cache-control": "no-store"]), .store) == .useOnly)
    }

    @Test func changedPolicyAppliesToCopiesThatAreKept() throws {
        var entry = Self.answer(["cache-control": "max-age=60, private"])
        #expect(try HTTPValidator().admit(&entry, from: .origin, for: Self.request()) == .keep)
        let shared = HTTPValidator(isShared: true)
        #expect(Self.letters(shared.permit(entry.metadata, for: Self.request(), at: Self.now)) == "")
        #expect(try shared.admit(&entry, from: .store, for: Self.request()) == .useOnly)
    }

    @Test func noteOfAnotherLengthOrVersionIsMadeAnew() throws {
        var entry = Self.answer(["cache-control": "max-age=60"])
        for bytes in [[], [1], [2] + [UInt8](repeating: 0, count: 26), [UInt8](repeating: 1, count: 28)] {
            entry.metadata.notes["http"] = .bytes(bytes)
            #expect(HTTPValidator().permit(entry.metadata, for: Self.request(), at: Self.now).freshFor == .seconds(60))
        }
    }
}
