import Testing

@testable import LarderPlugins

@Suite struct HTTPAddressTests {
    /// The examples of RFC 3986, section 5.4, that stay with HTTP.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
        ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
        ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
        ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
        ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
        ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"), ("%2e%2e/g", "/b/g"), ("ä b", "/b/c/%C3%A4%20b"),
    ])
    func referenceIsResolvedAsTheStandardSays(_ reference: String, _ target: String) throws {
        let base = try #require(HTTPAddress("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.url == "http://a" + target)
    }

    @Test(arguments: [
        ("//b.example/x", "https://b.example/x"), ("http://B.example:80", "http://b.example/"),
        ("HTTPS://a:8443?x", "https://a:8443/?x"), ("https://[::1]:8080/", "https://[::1]:8080/"),
        ("https://a:443/x", "https://a/x"),
    ])
    func referenceToAnotherServerIsResolved(_ reference: String, _ url: String) throws {
        #expect(try #require(HTTPAddress("https://a/b")).resolving(reference)?.url == url)
    }

    @Test(arguments: [
        "ftp://a/", "javascript:alert(1)", "file:///etc/passwd", "https://", "https:///x", "https://a:0/",
        "https://a:x/",
        "https://a:65536/", "https://user@a/", "https://[::1/", "https://a b/", "https://ä/", "//",
        "https://a:99999999999999999999/",
    ])
    func addressThatIsNotOfAnHTTPServerIsRefused(_ reference: String) throws {
        #expect(try #require(HTTPAddress("https://a/b")).resolving(reference) == nil)
    }
}
