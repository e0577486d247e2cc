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
        return PolicyReader(registry: .standard, folder: folder.path, environment: [:]).check("p.json").problems.first
            .map { "\($0.description)" } ?? ""
    }

    private static func age(_ settings: String) -> String { #"[{ "use": "age", \#(settings) }]"# }

    private static func http(_ settings: String) -> String {
        #"{ "use": "http", "url": "https://a.example/x/{id}", \#(settings) }"#
    }

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
    ]) func mistakeIsLedToTheRightPlace(_ mistake: Mistake) throws {
        let problem = try Self.problem(mistake.key, mistake.value)
        #expect(problem.contains(mistake.words), "\(problem)")
        // A wrong suggestion beside the right one would be worse than none.
        if mistake.words.hasPrefix(";") { #expect(!problem.contains("did you mean"), "\(problem)") }
    }

    @Test func secretFromTheEnvironmentIsNoMistake() throws {
        let folder = try Folder()
        try folder.write(
            #"{ "resource": "p", "origin": \#(Self.http(#""fields": { "Authorization": "Bearer ${TOKEN}" }"#)), "strategy": "network-only" }"#,
            to: "p.json")
        let reader = PolicyReader(registry: .standard, folder: folder.path, environment: ["TOKEN": "abc"])
        #expect(!reader.check("p.json").problems.contains { $0.message.contains("secret") })
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
