import LarderCore
import Testing

@testable import LarderPlugins

@Suite struct URLTemplateTests {
    /// The variables of the examples in RFC 6570, section 3.2, as far as they are texts.
    private static let values = [
        "var": "value", "hello": "Hello World!", "path": "/foo/bar", "base": "http://example.com/home/", "x": "1024",
        "y": "768", "empty": "", "half": "50%", "dub": "me/too", "who": "fred", "v": "6", "semi": ";",
        "dom": "example.com",
    ]

    /// The examples of RFC 6570 of the levels 1 to 3: those of section 1.2, and those of section 3.2.
    static let examples: [(String, String)] = [
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{+var}", "value"), ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"), ("here?ref={+path}", "here?ref=/foo/bar"), ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"), ("map?{x,y}", "map?1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"), ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"), ("X{.x,y}", "X.1024.768"), ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"), ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="), ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="), ("{half}", "50%25"), ("O{empty}X", "OX"), ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"), ("?{x,empty}", "?1024,"), ("?{x,undef}", "?1024"), ("?{undef,y}", "?768"),
        ("{+half}", "50%25"), ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"), ("O{+empty}X", "OX"), ("O{+undef}X", "OX"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"), ("{#half}", "#50%25"), ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"), ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"),
        ("www{.dom}", "www.example.com"), ("X{.empty}", "X."), ("X{.undef}", "X"), ("{/who}", "/fred"),
        ("{/who,who}", "/fred/fred"), ("{/half,who}", "/50%25/fred"), ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var,empty}", "/value/"), ("{/var,undef}", "/value"), ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"), ("{;v,empty,who}", ";v=6;empty;who=fred"), ("{;v,bar,who}", ";v=6;who=fred"),
        ("{;x,y,undef}", ";x=1024;y=768"), ("{?who}", "?who=fred"), ("{?half}", "?half=50%25"),
        ("{?x,y,undef}", "?x=1024&y=768"), ("{&who}", "&who=fred"), ("{&half}", "&half=50%25"),
        ("?fixed=yes{&x,y}", "?fixed=yes&x=1024&y=768"), ("{&var,undef,x}", "&var=value&x=1024"),
    ]

    @Test(arguments: examples)
    func exampleOfTheStandardIsExpanded(_ template: String, _ url: String) throws {
        #expect(try URLTemplate(template).expanded(with: Self.values) == url)
    }

    @Test func valueThatIsEncodedAlreadyStaysSoOnlyWhereReservedCharactersDo() throws {
        let values = ["a": "%41 %4 %zz ü"]
        #expect(try URLTemplate("{a}").expanded(with: values) == "%2541%20%254%20%25zz%20%C3%BC")
        #expect(try URLTemplate("{+a}").expanded(with: values) == "%41%20%254%20%25zz%20%C3%BC")
    }

    @Test func textThatIsNotASCIIIsEncoded() throws {
        #expect(try URLTemplate("/größe/%20/{a}").expanded(with: [:]) == "/gr%C3%B6%C3%9Fe/%20/")
    }

    @Test(arguments: [
        ("a{b", "there is a '{' without its '}'"), ("a}b", "there is a '}' without its '{'"),
        ("{}", "there is nothing between '{' and '}'"), ("{=a}", "an expression begins with a character"),
        ("{{a}}", "an expression begins with a character"), ("{a:3}", "'*' and ':' after the name"),
        ("{a*}", "'*' and ':' after the name"), ("{a,}", "this is not the name of a variable"),
        ("{.}", "this is not the name of a variable"), ("{a b}", "this is not the name of a variable"),
        ("{a..b}", "this is not the name of a variable"), ("{ä}", "this is not the name of a variable"),
        ("a b", "it contains a character that URLs do not allow"), ("a\0", "it contains a character"),
        ("a\r\nb", "it contains a character"), ("50%", "it contains a character"), ("a\\b", "it contains a character"),
    ])
    func textThatIsNoTemplateIsRefused(_ text: String, _ message: String) {
        let mistake = #expect(throws: URLTemplate.Mistake.self) { try URLTemplate(text) }
        #expect(mistake?.message.hasPrefix(message) == true, "\(mistake?.message ?? "")")
    }

    // MARK: The URL of an origin

    private static func url(_ text: String, _ values: [String: String]) throws -> String {
        try HTTPURL(text).expanded(with: values)
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("?a=1", "%3Fa%3D1"), ("#x", "%23x"), ("a\0b", "a%00b"),
        ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"), ("@evil.com", "%40evil.com"), ("a\\b", "a%5Cb"),
        ("//evil.com", "%2F%2Fevil.com"), ("…", "%E2%80%A6"), ("...", "..."), ("a..b", "a..b"), ("a;..", "a%3B.."),
    ])
    func hostileValueStaysInItsSegment(_ value: String, _ encoded: String) throws {
        #expect(try Self.url("https://a.example/x/{id}/y", ["id": value]) == "https://a.example/x/\(encoded)/y")
        #expect(try Self.url("https://a.example/x{?id}", ["id": value]) == "https://a.example/x?id=\(encoded)")
    }

    @Test(arguments: ["..", ".", "../..", "a/../..", "%2e%2E", "a/.%2e/b"])
    func valueThatLeadsToAnotherPathIsRefused(_ value: String) throws {
        let error = #expect(throws: LoadError.self) {
            try Self.url("https://a.example/x/{+path}", ["path": value])
        }
        #expect(error?.message == "a parameter leads to another path of the server: it contains '.' or '..'")
        if !value.contains("/"), !value.contains("%") {
            #expect(throws: LoadError.self) { try Self.url("https://a.example/x/{id}", ["id": value]) }
            #expect(throws: LoadError.self) { try Self.url("https://a.example/x{/id}", ["id": value]) }
            #expect(throws: LoadError.self) { try Self.url("https://a.example/{a}{b}/c", ["a": ".", "b": "."]) }
        }
        #expect(try Self.url("https://a.example/x?p={+path}", ["path": value]).hasPrefix("https://a.example/x?p="))
    }

    @Test(arguments: [
        "..%2fadmin", "..;/admin", "..%2Fadmin", "..%5cadmin", "..\\admin", "a%2f..%2fb", "..%3b/admin", "..;a=b/c",
        ".;/a", "..%252fadmin", "%252e%252e/a", "..%00/a", "..%09/a", "..%20/a", "..%3fa", "..%23a", "%2e.%5C",
        "%c0%ae%c0%ae/a", "..%c0%afadmin", "a%2f.", "x/..;", ".%2e;x",
    ])
    func valueThatAServerMayReadAsParentIsRefused(_ value: String) throws {
        let message = "a parameter leads to another path of the server: it contains '.' or '..'"
        for template in ["{+path}", "{path}", "a{/path}", "a/{+path}/b", "a;b/{path}"] {
            let error = #expect(throws: LoadError.self, "\(template)") {
                try Self.url("https://a.example/x/" + template, ["path": value])
            }
            #expect(error?.message == message)
        }
        #expect(throws: LoadError.self) { try Self.url("https://a.example/x/{a}{+b}", ["a": ".", "b": ".;/admin"]) }
        // A query has no segments.
        for template in ["{?path}", "?a={+path}", "?a=1{&path}"] {
            #expect(try Self.url("https://a.example/x" + template, ["path": value]).hasPrefix("https://a.example/x?"))
        }
    }

    @Test func valueWithManySegmentsReachesTheSameServer() throws {
        let url = "https://a.example/x/{+path}"
        #expect(try Self.url(url, ["path": "//evil.com/a?b"]) == "https://a.example/x///evil.com/a?b")
        #expect(try Self.url(url, ["path": "a#b"]) == "https://a.example/x/a%23b")
        #expect(try Self.url("https://a.example{/path}", ["path": "@evil.com"]) == "https://a.example/%40evil.com")
    }

    @Test(arguments: [
        ("https://a.example/{id}", [:], "id"), ("https://a.example/{id}/x", ["id": ""], "id"),
        ("https://a.example/{+path}?q=1", [:], "path"), ("https://a.example/x/{a}{b}{?q}", ["q": "1"], "a"),
        ("https://a.example/{a,b}", ["c": ""], "a"), ("https://a.example/x/{id}{/more}", ["more": "1"], "id"),
    ])
    func missingValueOfAWholeSegmentIsAnErrorThatNamesIt(_ url: String, _ values: [String: String], _ name: String) {
        let error = #expect(throws: LoadError.self) { try Self.url(url, values) }
        #expect(error?.message == "the request has no value for the parameter '\(name)' of the URL")
    }

    @Test(arguments: [
        ("https://a.example/x{?page,size}", "https://a.example/x"), ("https://a.example{/a}", "https://a.example"),
        ("https://a.example/x{/a}/y", "https://a.example/x/y"),
        ("https://a.example/{a}.json", "https://a.example/.json"),
        ("https://a.example/x?a={a}", "https://a.example/x?a="), ("https://a.example/x-{a}", "https://a.example/x-"),
        ("https://a.example?a=/{a}/", "https://a.example?a=//"), ("https://a.example/x{;a}", "https://a.example/x"),
    ])
    func otherMissingValueIsLeftOut(_ template: String, _ url: String) throws {
        #expect(try Self.url(template, [:]) == url)
    }

    @Test(arguments: [
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x/1?b=2&c=3", ["a": "1", "b": "2", "c": "3"]),
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x?c=3", ["c": "3"]),
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x", [:]),
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x/%C3%A4%2fb", ["a": "ä/b"]),
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x?c=3&b=2", ["b": "2", "c": "3"]),
        ("https://a.example/x{/a}{?b,c}", "https://a.example/x/1/2", nil),
        ("https://a.example/x{/a}{?b,c}", "https://b.example/x/1", nil),
        ("https://a.example/x{/a}{?b,c}", "http://a.example/x/1", nil),
        ("https://a.example/{a}.json", "https://a.example/1.json", ["a": "1"]),
        ("https://a.example/{a}.json", "https://a.example/1.html", nil),
        ("https://a.example/{a,b}/y", "https://a.example/1,2/y", ["a": "1", "b": "2"]),
        ("https://a.example/x?k=v{&a}", "https://a.example/x?k=v&a=1", ["a": "1"]),
        ("https://a.example/{+a}{?b}", "https://a.example/1/2?b=3", ["a": "1/2", "b": "3"]),
        ("https://a.example/x{;a}", "https://a.example/x;a=1", ["a": "1"]),
    ])
    func parametersAreReadFromAURL(_ template: String, _ url: String, _ parameters: [String: String]?) throws {
        let address = try #require(HTTPAddress(url))
        #expect(try HTTPURL(template).parameters(of: address) == [parameters].compactMap(\.self))
    }

    @Test(arguments: [
        ("ftp://a.example/", "the scheme of the URL is neither"), ("a.example", "the URL has no scheme and host"),
        ("{base}/x", "the URL has no scheme and host"), ("https://{host}/x", "the host depends on a variable"),
        ("https://a.{domain}/x", "the host depends on a variable"), ("https://a{+x}", "the host depends on a variable"),
        ("https://a:{port}/x", "the host depends on a variable"), ("https://", "the host or the port"),
        ("https:///x", "the host or the port"), ("https://a.example:99999/", "the host or the port"),
        ("https://me:secret@a.example/", "the URL contains a user or a password"),
        ("https://a.example/#top", "the URL has a fragment"), ("https://a.example/{#a}", "the URL has a fragment"),
        ("https://a.example/../x", "the path of the URL contains '.' or '..'"),
        ("https://a.example/x/%2e%2e/{id}", "the path of the URL contains '.' or '..'"),
    ])
    func urlThatNoOriginCanUseIsRefused(_ text: String, _ message: String) {
        let mistake = #expect(throws: URLTemplate.Mistake.self) { try HTTPURL(text) }
        #expect(mistake?.message.hasPrefix(message) == true, "\(mistake?.message ?? "")")
    }
}
