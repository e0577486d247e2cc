import Larder
import Testing

@testable import LarderPlugins

@Suite struct CacheControlTests {
    private let most = HTTPText.mostSeconds

    @Test func directivesAreReadWithoutRegardToCaseAndOrder() {
        let control = CacheControl([
            "MAX-AGE=60, Public", "stale-if-error=5,,  ,S-MaxAge=7 ,immutable\t, must-revalidate",
        ])
        #expect(control.maxAge == 60 && control.sharedMaxAge == 7 && control.staleIfError == 5)
        #expect(control.flags == [.isPublic, .immutable, .mustRevalidate])
        #expect(control.staleWhileRevalidate == nil && control.minFresh == nil && control.maxStale == nil)
        #expect(CacheControl([]) == CacheControl(["", " , ,"]))
    }

    @Test(arguments: [
        ("no-store", ServerRules.Flags.noStore), ("no-cache", .noCache), ("private", .isPrivate),
        ("public", .isPublic),
        ("must-revalidate", .mustRevalidate), ("proxy-revalidate", .proxyRevalidate), ("immutable", .immutable),
        ("must-understand", .mustUnderstand),
        // With names of fields, they are read as concerning the whole answer.
        ("no-cache=\"set-cookie, x\"", .noCache), ("private=\"x\"", .isPrivate), ("no-store=1", .noStore),
    ])
    func directiveWithoutNumberIsRead(text: String, flag: ServerRules.Flags) {
        #expect(CacheControl([text]).flags == flag)
    }

    @Test(arguments: [
        "nostore", "no-store-x", "x-no-store", "x=\"no-store\"", "x=\", no-store, \"", "x=\"\\\", no-store\"",
        "no store", "max-ages=5", "no\u{2010}store", "=",
    ])
    func unknownDirectiveIsIgnored(text: String) {
        #expect(CacheControl([text]) == CacheControl([]))
    }

    private static let unreadable: [(String, ServerRules.Flags)] = [
        ("max-age=60; no-store", .noStore), ("x=\"no-store", .noStore), ("\"no-store\"", .noStore),
        ("=no-store", .noStore), ("x=\"a, No-Store", .noStore), ("max-age=60 no-store", .noStore),
        ("x=\"a\" no-store", .noStore), ("(no-store)", .noStore), ("no-store:", .noStore),
        ("no-store\u{A0}", .noStore), ("public; private", .isPrivate), ("max-age=60; no-cache", .noCache),
        ("must-understand; no-store", .noStore), ("x=\"private, no-cache", [.isPrivate, .noCache]),
        // These would also permit that an answer to credentials is kept, so a stricter rule takes their place.
        ("immutable; must-revalidate", .noCache), ("x; proxy-revalidate", .noCache), ("x; s-maxage=60", .noCache),
    ]

    @Test(arguments: unreadable)
    func restrictionInAnElementThatIsNoDirectiveCounts(text: String, flags: ServerRules.Flags) {
        let control = CacheControl([text])
        #expect(control.flags == flags && control.sharedMaxAge == nil)
        #expect(CacheControl(["x; max-age=60"]).maxAge == 0)
        #expect(CacheControl(["x; stale-if-error=60"]).staleIfError == 0)
    }

    @Test(arguments: [
        ("max-age=0", 0), ("max-age=00060", 60), ("max-age=\"60\"", 60), ("max-age=2147483648", 1 << 31),
        ("max-age=2147483649", 1 << 31), ("max-age=99999999999999999999999999999999", 1 << 31),
        // Not valid, so as short as can be.
        ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=+60", 0), ("max-age=60.5", 0),
        ("max-age=1e3", 0), ("max-age=60s", 0), ("max-age= 60", 0), ("max-age =60", 0), ("max-age='60'", 0),
        ("max-age=\"60", 0), ("max-age=\"\"", 0), ("max-age=\"", 0), ("max-age=٦", 0), ("max-age=60=60", 0),
        // The strictest of several.
        ("max-age=60, max-age=30", 30), ("max-age=30, max-age=60", 30), ("max-age=60, max-age=x", 0),
    ])
    func lifetimeThatIsNotValidIsAsShortAsCanBe(text: String, seconds: Int) {
        #expect(CacheControl([text]).maxAge == Int64(seconds))
        let values = text.split(separator: ",").map(String.init)
        #expect(CacheControl(values).maxAge == Int64(seconds))
    }

    @Test func wishesOfARequestAreReadStrictly() {
        #expect(CacheControl(["max-stale"]).maxStale == most)
        #expect(CacheControl(["max-stale=5, max-stale"]).maxStale == 5)
        #expect(CacheControl(["max-stale=x"]).maxStale == 0)
        #expect(CacheControl(["min-fresh=5, min-fresh=9"]).minFresh == 9)
        #expect(CacheControl(["min-fresh=x"]).minFresh == most)
    }

    @Test func longListIsReadInLinearTime() {
        let list = String(repeating: "a=\"\\\"", count: 13_000) + ",no-store"
        #expect(CacheControl([list, String(repeating: ",", count: 65_000)]).flags.isSubset(of: [.noStore]))
    }

    @Test func varyNamesAreInLowerCaseAndEachOnce() {
        #expect(HTTPVary.names(of: ["vary": "Accept, accept-language ,, ACCEPT"]) == ["accept", "accept-language"])
        #expect(HTTPVary.names(of: ["vary": "Accept, *"]) == ["*"])
        #expect(HTTPVary.names(of: ["vary": "Accept-Encoding"]) == [])
        #expect(HTTPVary.names(of: [:]) == [] && HTTPVary.names(of: ["vary": " , "]) == [])
    }
}
