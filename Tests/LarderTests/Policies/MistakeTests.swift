import LarderFoundation
import LarderSystem
import Testing

import Larder
@testable import LarderCore

/// Mistakes that people make who know other frameworks: none is silent, and none is led to a wrong place.
@Suite struct MistakeTests {
    /// A change of a sound policy, and what its first problem says.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let key: String
        let value: String
        let words: String

        init(_ key: String, _ value: String, says words: String) {
            (self.key, self.value, self.words) = (key, value, words)
        }

        var testDescription: String { "\(key): \(value)" }
    }

    private static let members: [(key: String, value: String)] = [
        ("resource", #""p""#),
        ("origin", #"{ "use": "http", "url": "https://a.example/x/{id}" }"#),
        ("around", #"[{ "use": "timeout", "after": "8s" }]"#),
        ("strategy", #"{ "use": "network-first", "patience": "1s" }"#),
        ("validators", #"[{ "use": "age", "fresh": "5m", "onError": "1d" }]"#),
        ("store", #"{ "use": "memory", "capacity": "20MB" }"#),
    ]

    /// Returns the first problem of the policy with this change; an empty text if there is none.
    private static func problem(_ key: String, _ value: String) throws -> String {
        let isKnown = members.contains { $0.key == key }
        let all = members.map { $0.key == key ? (key, value) : $0 } + (isKnown ? [] : [(key, value)])
        let folder = try Folder()
        try folder.write("{" + all.map { "\"\($0)\": \($1)" }.joined(separator: ",\n") + "}", to: "p.json")
        let environment = ["TOKEN": "abc"]
        return PolicyReader(registry: .standard, folder: folder.path, environment: environment).check("p.json").problems
            .first.map { "\($0.description)" } ?? ""
    }

    private static func age(_ settings: String) -> String { #"[{ "use": "age", \#(settings) }]"# }

    private static func http(_ settings: String) -> String {
        #"{ "use": "http", "url": "https://a.example/x/{id}", \#(settings) }"#
    }

    private static func first(_ settings: String) -> String { #"{ "use": "network-first", \#(settings) }"# }

    private static func url(_ path: String) -> String { #"{ "use": "http", "url": "https://a.example\#(path)" }"# }

    private static func field(_ field: String) -> String { http(#""fields": { \#(field) }"#) }

    @Test func policyWithoutMistakeHasNoProblem() throws { #expect(try Self.problem("about", #""x""#) == "") }

    @Test(arguments: [
        Mistake("ttl", #""5m""#, says: "; 'fresh' is a setting of validator 'age', in 'validators'"),
        Mistake("fresh", #""5m""#, says: "; 'fresh' is a setting of validator 'age', in 'validators'"),
        Mistake("timeout", #""5s""#, says: "; 'timeout' is a wrapper, in 'around'"),
        Mistake("retry", "3", says: "; 'retry' is a wrapper, in 'around'"),
        Mistake("memory", "{}", says: "; 'memory' is a store, in 'store'"),
        Mistake("swr", "true", says: "; 'stale-while-revalidate' is a strategy, in 'strategy'"),
        Mistake("cache", #""memory""#, says: "; the key is 'store'"),
        Mistake("name", #""p""#, says: "; the key is 'resource'"),
        Mistake("middleware", "[]", says: "; the key is 'around'"),
        Mistake("headers", "{}", says: "; 'fields' is a setting of origin 'http', in 'origin'"),
        Mistake("fallback", #""sample""#, says: "(did you mean 'fallbacks'?)"),
        Mistake("validators", age(#""ttl": "5m""#), says: "(did you mean 'fresh'?)"),
        Mistake("validators", age(#""max-age": "5m""#), says: "(did you mean 'fresh'?)"),
        Mistake("validators", age(#""swr": "1h""#), says: "(did you mean 'whileRevalidating'?)"),
        Mistake("validators", age(#""stale-if-error": "1h""#), says: "(did you mean 'onError'?)"),
        Mistake("validators", age(#""fresh": 300"#), says: #"expected "300ms" or "300s""#),
        Mistake("validators", age(#""fresh": "5min""#), says: "(did you mean '5m'?)"),
        Mistake("validators", age(#""fresh": "5 minutes""#), says: "(did you mean '5m'?)"),
        Mistake("validators", age(#""fresh": "1.5h""#), says: "(did you mean '90m'?)"),
        Mistake("validators", age(#""fresh": "4.1s""#), says: "(did you mean '4100ms'?)"),
        Mistake("store", #"{ "use": "memory", "capacity": "2.01KB" }"#, says: "(did you mean '2010B'?)"),
        Mistake("validators", age(#""fresh": "2w""#), says: "(did you mean '14d'?)"),
        Mistake("validators", age(#""fresh": "1d 12h""#), says: "(did you mean '36h'?)"),
        Mistake("validators", age(#""fresh": "-1s""#), says: "expected a duration such as"),
        Mistake("validators", #"{ "use": "age" }"#, says: "expected a list, each item a validator"),
        Mistake("store", #"{ "use": "memory", "capacity": 50000000 }"#, says: #"expected "50MB" [at"#),
        Mistake("store", #"{ "use": "memory", "capacity": 50 }"#, says: #"expected "50KB" or "50MB""#),
        Mistake("store", #"{ "use": "memory", "capacity": "50 MiB" }"#, says: "(did you mean '50MB'?)"),
        Mistake("store", #"{ "use": "memory", "capacity": "50mb" }"#, says: "(did you mean '50MB'?)"),
        Mistake("store", #"{ "use": "memory", "capacity": "0.5GB" }"#, says: "(did you mean '500MB'?)"),
        Mistake("store", #"{ "use": "memory", "ttl": "5m" }"#, says: "(did you mean 'forgetAfter'?)"),
        Mistake("store", #""disk""#, says: "(did you mean 'file'?)"),
        Mistake("store", #"{ "use": "db" }"#, says: "(did you mean 'sqlite'?)"),
        Mistake("store", #"{ "use": "memory", "maxSize": "20MB" }"#, says: "(did you mean 'capacity'?)"),
        Mistake("store", #"{ "use": "memory", "countLimit": 10 }"#, says: "(did you mean 'entries'?)"),
        Mistake(
            "store", #"{ "use": "tiered", "tiers": [{ "use": "sqlite", "limit": "2s" }, "memory"] }"#,
            says: "warning: store 'memory' is faster than 'sqlite' before it"),
        Mistake("origin", http(#""headers": {}"#), says: "(did you mean 'fields'?)"),
        Mistake("origin", http(#""timeout": "5s""#), says: "(did you mean 'limit'?)"),
        Mistake("origin", http(#""method": "get""#), says: "(did you mean 'GET'?)"),
        Mistake(
            "origin", http(#""fields": { "Authorization": "Bearer abc" }"#),
            says: "warning: the value of the field 'authorization' is a secret"),
        Mistake(
            "origin", #"{ "use": "http", "url": "https://a.example/x/:id" }"#,
            says: "warning: ':id' is no variable, and is sent as it stands; expected a variable in braces: {id}"),
        Mistake("strategy", #""swr""#, says: "(did you mean 'stale-while-revalidate'?)"),
        Mistake("strategy", #""cacheFirst""#, says: "(did you mean 'cache-first'?)"),
        Mistake("strategy", #""age""#, says: "it is the name of a validator"),
        Mistake(
            "strategy", #"{ "use": "network-first", "timeout": "1s" }"#,
            says: "'timeout' is a wrapper, in 'around'"),
        Mistake("around", #"[{ "use": "retry", "attempts": 5 }]"#, says: "(did you mean 'retries'?)"),
        Mistake(
            "around", #"[{ "use": "retry", "retries": 50 }]"#, says: "warning: 'retry' calls up to 51 times, and waits"),
        Mistake(
            "strategy", first(#""fresh": "5m""#), says: "; 'fresh' is a setting of validator 'age', in 'validators'"),
        Mistake("strategy", #""rate""#, says: "error: unknown strategy 'rate'"),
        Mistake("around", #"["timeout:8s"]"#, says: #"settings stand beside a name; expected { "use": "timeout", … }"#),
        Mistake(
            "origin", #""https://a.example""#,
            says: #"this is a URL, not the name of an origin; expected { "use": "http","#),
        Mistake(
            "fallbacks", #"["Seeds/p.json"]"#,
            says: #"this is a path, not the name of an origin; expected { "use": "file", "path": "…" }"#),
        Mistake("around", #"[{ "timeout": "8s" }]"#, says: #"which wrapper to use; expected { "use": "timeout", … }"#),
        Mistake("around", #"[{ "use": "circuit-breaker" }]"#, says: "(did you mean 'breaker'?)"),
        Mistake("expiration", #""10m""#, says: "; 'fresh' is a setting of validator 'age', in 'validators' [at"),
        Mistake("size", #""20MB""#, says: "error: unknown key 'size'; expected one of '$schema'"),
        Mistake(
            "strategy", first(#""name": "x""#), says: "'name' for strategy 'network-first'; expected one of 'rest'"),
        Mistake("cacheTime", "300", says: "; 'forgetAfter' is a setting of store 'memory', in 'store' [at"),
        Mistake("origin", #"{ "use": "" }"#, says: "the name of an origin is empty"),
        Mistake("origin", #"{ "type": "http" }"#, says: #"'type' does not say which origin to use; expected "use""#),
        Mistake("origin", http(#""retries": 3"#), says: "; 'retries' is a setting of wrapper 'retry', in 'around'"),
        Mistake("refresh", #"{ "interval": "5m" }"#, says: "(did you mean 'every'?)"),
        Mistake("promises", #"{ "maxAge": "5m" }"#, says: "(did you mean 'neverOlderThan'?)"),
        Mistake("promises", #"{ "timeout": "5s" }"#, says: "(did you mean 'waitsAtMost'?)"),
        Mistake("prefetch", #"{ "urls": [] }"#, says: "(did you mean 'requests'?)"),
        Mistake("around", #"[{ "use": "hedge", "delay": "1s" }]"#, says: "(did you mean 'after'?)"),
        Mistake("around", #"[{ "use": "breaker", "timeout": "1s" }]"#, says: "(did you mean 'rest'?)"),
        Mistake("around", #"[{ "use": "timeout", "limit": "8s" }]"#, says: "(did you mean 'after'?)"),
        Mistake("validators", #"[{ "use": "max-size", "size": "1MB" }]"#, says: "(did you mean 'capacity'?)"),
        Mistake("store", #"{ "use": "memory", "timeout": "1s" }"#, says: "(did you mean 'limit'?)"),
        Mistake("store", #"{ "use": "memory", "eviction": "lfu" }"#, says: "(did you mean 'adaptive'?)"),
        Mistake(
            "store", #"{ "use": "memory", "capacity": "0" }"#, says: "0 is out of range; expected a size of at least 1B"
        ),
        Mistake(
            "store", #"{ "use": "memory", "capacity": 0 }"#, says: "0 is out of range; expected a size of at least 1B"),
        Mistake("store", #"{ "use": "memory", "capacity": "1TB" }"#, says: "(did you mean '1000GB'?)"),
        Mistake("store", #"{ "use": "memory", "capacity": "1,000MB" }"#, says: #"or "20MB" [at"#),
        Mistake("validators", age(#""fresh": "PT5M""#), says: "(did you mean '5m'?)"),
        Mistake("validators", age(#""fresh": "P1DT12H""#), says: "(did you mean '36h'?)"),
        Mistake("validators", age(#""fresh": "00:05:00""#), says: "(did you mean '5m'?)"),
        Mistake("validators", age(#""fresh": "01:30:00""#), says: "(did you mean '90m'?)"),
        Mistake("validators", age(#""fresh": "05:00""#), says: #"or "30s" [at"#),
        Mistake(
            "origin", #"{ "use": "http", "url": "ftp://a.example/x" }"#, says: "the scheme of the URL is neither https"),
        Mistake(
            "around", #"[{ "use": "retry", "backoff": "10s", "limit": "5s" }]"#,
            says: "error: 'backoff' is longer than 'limit', so no wait is as long as it says; expected a longer limit"),
        Mistake("validators", age(#""fresh": "P1M""#), says: #"or "30s" [at"#),
        Mistake("validators", age(#""fresh": "1y""#), says: "(did you mean '365d'?)"),
        Mistake("validators", age(#""fresh": "5,5h""#), says: "(did you mean '330m'?)"),
        Mistake(
            "validators", age(#""fresh": "9999999d""#),
            says: #"expected a duration of at most 99999d, or "forever" [at"#),
        Mistake(
            "validators", age(#""fresh": "9999999h""#),
            says: #"expected a duration of at most 999999h, or "forever" [at"#),
        Mistake("refresh", #"{ "every": 60 }"#, says: #"the number 60 has no unit; expected "60s" [at"#),
        Mistake("refresh", #"{ "every": "10 sec" }"#, says: #"or "30s" [at"#),
        Mistake(
            "validators", #"[{ "use": "content-type", "allowed": ["json"] }]"#,
            says:
                "this is not a media type; expected a media type such as \"application/json\" or \"image/*\" (did you "
                + "mean 'application/json'?)"),
        Mistake(
            "validators", #"[{ "use": "content-type", "allowed": ["text/html; charset=utf-8"] }]"#,
            says: "(did you mean 'text/html'?)"),
        Mistake("origin", http(#""accept": ["json"]"#), says: "(did you mean 'application/json'?)"),
        Mistake(
            "around", #"[{ "use": "retry", "retries": 3 }, { "use": "retry", "retries": 4 }]"#,
            says:
                "a load calls up to 20 times, because these multiply: 4 tries of 'retry', 5 tries of 'retry'; expected "
                + "at most 10 calls"),
        Mistake("origin", url("/x?id=:id"), says: "':id' is no variable, and is sent as it stands"),
        Mistake("origin", url("/x/$id"), says: "'$id' is no variable, and is sent as it stands"),
        Mistake("origin", url("/x/[id]"), says: "'[id]' is no variable, and is sent as it stands"),
        Mistake("origin", url("/x/<id>"), says: "error: '<id>' is no variable; expected a variable in braces: {id}"),
        Mistake(
            "origin", url("/x/{{id}}"), says: "error: '{{id}}' is no variable; expected a variable in braces: {id}"),
        Mistake(
            "origin", url("/x?api_key=abc"),
            says: "warning: the value of the parameter 'api_key' of the URL is a secret"),
        Mistake("origin", url("/x?a=1&token=${T:-abc}"), says: "the parameter 'token' of the URL is a secret"),
        Mistake(
            "origin", field(#""X-Auth-Token": "abc""#),
            says: "warning: the value of the field 'x-auth-token' is a secret"),
        Mistake("origin", field(#""apikey": "abc""#), says: "warning: the value of the field 'apikey' is a secret"),
        Mistake(
            "origin", field(#""X-API-Key": "${T:-abc}""#),
            says: "warning: the value of the field 'x-api-key' is a secret"),
        Mistake("origin", field(#""Authorization": """#), says: "the field 'authorization' is sent without a secret"),
        Mistake(
            "origin", field(#""Authorization": "Bearer ""#), says: "'authorization' is sent without a secret"),
    ]) func mistakeIsLedToTheRightPlace(_ mistake: Mistake) throws {
        let problem = try Self.problem(mistake.key, mistake.value)
        #expect(problem.contains(mistake.words), "\(problem)")
        // A wrong suggestion beside the right one would be worse than none.
        if !mistake.words.contains("did you mean") { #expect(!problem.contains("did you mean"), "\(problem)") }
    }

    @Test(arguments: [
        field(#""Authorization": "Bearer ${TOKEN}""#), field(#""Cookie": "a=${TOKEN}""#),
        field(#""Authorization": "Bearer ${NONE:-}""#), url("/x?api_key=${TOKEN}"), url("/x?token={token}&page=1"),
        url("/x?pages=$count"), url("/x/$count"), url("/x/{id}/$everything"), url("/x:id"), url("/x?$top=5"),
        #"{ "use": "http", "url": "HTTPS://a.example/x" }"#,
    ]) func originWithoutMistakeHasNoProblem(_ origin: String) throws {
        #expect(try Self.problem("origin", origin) == "")
    }

    @Test(arguments: [
        ("origin", #"{ "use": "http", "url": "https://:s3cret@a.example" }"#, "the URL contains a user or a password"),
        ("origin", #"{ "use": "http", "url": "https://a.example/x?token=$s3cret" }"#, "is a secret"),
        ("origin", #"{ "use": "http", "url": "https://a.example/x?token=[s3cret]" }"#, "is a secret"),
        ("store", #""redis://:s3cret@host""#, "this is a URL, not the name of a store"),
    ]) func secretInAURLIsNotTold(_ key: String, _ value: String, _ words: String) throws {
        let problem = try Self.problem(key, value)
        #expect(problem.contains(words) && !problem.contains("s3cret"), "\(problem)")
    }

    /// A JSON Web Token, an encoded name and password, and a key of Google, made up.
    private static let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJxdWluY2UifQ."
    private static let basic = "Basic cXVpbmNlOnF1aW5jZQ=="
    private static let key = "AIza" + String(repeating: "Q1", count: 17) + "x"

    @Test(arguments: [
        (url("/x?sig=abc"), "the value of the parameter 'sig' of the URL"),
        (url("/x?a=1&signature=abc"), "parameter 'signature' of the URL"),
        (url("/x?X-Amz-Signature=0a1b"), "parameter 'X-Amz-Signature' of the URL"),
        (url("/x?key=\(key)"), "parameter 'key' of the URL"),
        (url("/x?k=${KEY:-\(key)}"), "parameter 'k' of the URL"), (url("/\(token)/x"), "a part of the URL"),
        (#"{ "use": "http", "url": "https://hooks.slack.com/services/T0/B0/quince" }"#, "a part of the URL"),
        (#"{ "use": "http", "url": "https://discord.com/api/webhooks/123/quince" }"#, "a part of the URL"),
        (field(#""X-User": "Bearer \#(token)""#), "field 'x-user'"),
        (field(#""X-User": "\#(token)""#), "field 'x-user'"),
        (field(#""X-User": "\#(basic)""#), "field 'x-user'"),
        (field(#""X-User": "${T:-\#(basic)}""#), "field 'x-user'"),
        (field(#""X-Goog": "\#(key)""#), "field 'x-goog'"), (field(#""Signature": "abc""#), "field 'signature'"),
        (field(#""X-User": "Bearer 0123456789abcdef0123""#), "field 'x-user'"),
    ]) func secretIsNoticedByItsNameOrItsForm(_ origin: String, _ place: String) throws {
        let problem = try Self.problem("origin", origin)
        #expect(problem.contains("\(place) is a secret") && problem.contains("warning: "), "\(problem)")
        #expect(!problem.contains("quince") && !problem.contains(Self.key), "\(problem)")
    }

    @Test(arguments: [
        url("/x?sign=aries"), url("/x?key=title"), url("/x?signal=on"), url("/x?sig={sig}&key={key}"),
        url("/x?sig=${TOKEN}&signature=${TOKEN}"), url("/services/T0/B0/x"), url("/api/webhooks/1/x"),
        field(#""X-Plan": "Basic plan""#), field(#""X-Plan": "Basic standard""#), field(#""X-Role": "bearer of news""#),
        field(#""X-Role": "Bearer acknowledgement-of-everything""#), field(#""X-User": "Bearer ${TOKEN}""#),
        field(#""Accept-Language": "en""#), field(#""User-Agent": "eyJ/1.0""#),
        #"{ "use": "http", "url": "https://hooks.slack.com/services/${TOKEN}" }"#,
    ]) func valueThatOnlyResemblesASecretHasNoProblem(_ origin: String) throws {
        #expect(try Self.problem("origin", origin) == "")
    }

    @Test func wrongURLIsNotBlamedOnWhatMayStandInIt() throws {
        let problem = try Self.problem("origin", #"{ "use": "http", "url": "api.example.com/:id" }"#)
        #expect(problem.contains("the URL has no scheme and host"), "\(problem)")
    }

    @Test func mirrorsMultiplyTries() throws {
        let origin = #"{ "use": "constant", "value": 1 }"#
        let mirrors =
            #"{ "use": "mirrors", "origins": [\#(Array(repeating: origin, count: 3).joined(separator: ","))] }"#
        let folder = try Folder()
        try folder.write(
            #"""
            { "resource": "p", "origin": \#(mirrors), "around": [{ "use": "retry", "retries": 3, "backoff": "1ms" }],
              "strategy": "network-only" }
            """#, to: "p.json")
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        let found = reader.check("p.json").problems.first { $0.rule == "many-tries" }
        #expect(
            found?.message
                == "a load calls up to 12 times, because these multiply: 4 tries of 'retry', 3 origins of 'mirrors'")
    }

    @Test(arguments: [
        ("hhtp", "http"), ("htpp", "http"), ("stroe", "store"), ("patiense", "patience"),
        ("netwrok-frist", "network-first"),
        ("rate", nil), ("fresh", nil), ("lfu", nil), ("retries", "retries"), ("", nil), ("memry", "memory"),
    ]) func onlyNamesThatAreCloseForTheirLengthAreSuggested(_ word: String, _ name: String?) {
        let known = ["http", "store", "patience", "network-first", "race", "rest", "lru", "retries", "memory"]
        #expect(closestName(to: word, among: known) == name)
    }

    @Test func requiredSettingUnderAWrongNameIsToldOnce() throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "p", "origin": { "use": "http", "uri": "https://a.eu" }, "strategy": "network-only" }"#,
            to: "p.json")
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: [:])
        let result = reader.check("p.json")
        #expect(result.policy == nil && result.problems.map(\.suggestion) == ["url"], "\(result.problems)")
    }

    @Test(arguments: [
        (#""log": { "size": "1MB" }"#, "capacity"), (#""metrics": { "interval": "1m" }"#, "every"),
        (#""otlp": { "url": "http://a/b" }"#, "endpoint"), (#""logging": {}"#, "log"),
        (#""otlp": { "endpoint": "http://a/b", "headers": {} }"#, "fields"),
        (#""otlp": { "endpoint": "http://a/b", "timeout": "1s" }"#, "limit"),
    ]) func settingOfTheProcessIsLedToItsName(_ member: String, _ name: String) throws {
        let folder = try Folder()
        try folder.write("{ \(member) }", to: "_larder.json")
        let problems = PolicyReader(registry: .standard, folder: folder.path, environment: [:]).checkProcess().problems
        #expect(problems.map(\.suggestion) == [name], "\(problems)")
    }

    @Test func emptyRegistryNamesNoChoice() throws {
        let folder = try Folder()
        try folder.write(#"{ "resource": "p", "origin": "sample", "strategy": "race" }"#, to: "p.json")
        let reader = PolicyReader(registry: Registry(), folder: folder.path, environment: [:])
        let problems = reader.check("p.json").problems.map(\.description)
        #expect(
            !problems.isEmpty && !problems.contains { $0.contains("one of [") || $0.hasSuffix("one of ") },
            "\(problems)")
        #expect(!problems.contains { $0.contains("; expected one of [") }, "\(problems)")
    }
}
