import Larder
import Testing

@testable import LarderSync

/// A new state of the service under changes of the user.
struct RebasingTests {
    private func sample(_ change: (inout SyncRules) -> Void = { _ in }) throws -> PlannerSample {
        try PlannerSample(#"{"id":"r","a":1,"b":1,"l":["x"]}"#, change)
    }

    @Test func otherFieldsOfBothSidesStay() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.pull(#"{"id":"r","a":1,"b":9,"l":["x"]}"#)
        #expect(sample.shown == #"{"id":"r","a":2,"b":9,"l":["x"]}"#)
        #expect(sample.effects.events.isEmpty)
    }

    @Test func sameChangeOfBothSidesIsOvertaken() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.pull(#"{"id":"r","a":2.0,"b":1,"l":["x"]}"#)
        #expect(sample.row.writes.isEmpty)
        #expect(sample.effects.books.overtaken == 1)
    }

    @Test(arguments: [("server", "9"), ("client", "2"), ("ask", "2")])
    func ruleDecidesWhereBothChangedTheSame(_ rule: String, _ value: String) throws {
        let rules: [String: any ConflictRule] = ["server": ServerWins(), "client": ClientWins(), "ask": AskApp()]
        var sample = try sample { $0.conflict = rules[rule] ?? MergeFields() }
        try sample.set("a", "2")
        try sample.pull(#"{"id":"r","a":9,"b":1,"l":["x"]}"#)
        #expect(sample.planner.shown(sample.row)?["a"]?.text == value)
        #expect(sample.effects.conflicts == 1)
        #expect(sample.effects.letters.count == (rule == "server" ? 1 : 0))
        #expect(sample.row.first?.status == (rule == "ask" ? .conflict : rule == "client" ? .open : nil))
    }

    @Test func appDecidesAConflict() throws {
        var sample = try sample { $0.conflict = AskApp() }
        try sample.set("a", "2")
        try sample.pull(#"{"id":"r","a":9,"b":1,"l":["x"]}"#)
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .ask(1))
        let chosen = try JSONText(text: #"{"id":"r","a":5,"b":1,"l":["x"]}"#)
        #expect(sample.planner.resolve(&sample.row, by: .record(chosen), at: &sample.moment, &sample.effects))
        #expect(sample.row.writes[0].patch[["a"]]?.before?.text == "9")
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(1))
    }

    @Test(arguments: [true, false])
    func deletionThatTheAppKeepsGoesToTheNewVersion(_ isAsked: Bool) throws {
        var sample = try sample {
            $0.versionPath = ["b"]
            if isAsked { $0.conflict = AskApp() }
        }
        try sample.write(.delete)
        if isAsked {
            try sample.pull(#"{"id":"r","a":9,"b":2}"#)
        } else {
            // The service refuses it again and again.
            for _ in 0...SyncPlanner.mostRounds {
                try sample.answer(.conflict(JSONText(text: #"{"id":"r","a":9,"b":2}"#)))
            }
        }
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .ask(1))
        #expect(sample.shown == nil)
        let key = sample.row.writes[0].key
        #expect(sample.planner.resolve(&sample.row, by: .deletion, at: &sample.moment, &sample.effects))
        #expect(sample.planner.nextStep(of: sample.row, at: .max / 4) == .send(1))
        #expect(sample.kinds == [.delete] && sample.row.writes[0].key != key)
        #expect(sample.row.version?.text == "2" && sample.row.writes[0].rounds == 0)
    }

    @Test func decisionIsAboutAllChangesOfTheRecord() throws {
        for decision in [SyncPlanner.Decision.theirs, .deletion, .record(try JSONText(text: #"{"id":"r","a":5}"#))] {
            var sample = try sample {
                $0.conflict = AskApp()
                $0.merges = false
            }
            try sample.set("a", "2")
            try sample.set("a", "3")
            try sample.write(.delete)
            try sample.pull(#"{"id":"r","a":9}"#)
            #expect(sample.planner.resolve(&sample.row, by: decision, at: &sample.moment, &sample.effects))
            switch decision {
            case .theirs: #expect(sample.row.writes.isEmpty && sample.shown == #"{"id":"r","a":9}"#)
            case .deletion: #expect(sample.kinds == [.delete] && sample.shown == nil)
            case .record: #expect(sample.kinds == [.update] && sample.shown == #"{"id":"r","a":5}"#)
            }
            #expect(sample.effects.books.unaccounted == 0)
            #expect(sample.effects.books.pending == sample.row.writes.count)
        }
    }

    @Test(arguments: [false, true])
    func listsAreMergedItemByItem(_ isAboutRecords: Bool) throws {
        var sample = try sample {
            $0.unions = [["l"]]
            $0.conflict = LastWriteWins(isAboutRecords: isAboutRecords)
        }
        try sample.set("l", #"["x","mine"]"#)
        try sample.set("a", "2")
        try sample.pull(#"{"id":"r","a":1,"b":9,"l":["x","theirs"]}"#)
        #expect(sample.planner.shown(sample.row)?["l"]?.text == #"["x","theirs","mine"]"#)
    }

    @Test func fieldsWhoseNamesLookAlikeAreDifferent() throws {
        // One character, and a letter with an accent.
        let (one, two) = ("\u{e9}", "e\u{301}")
        var sample = try PlannerSample(#"{"id":"r","\#(one)":["x"],"\#(two)":["x"]}"#) { $0.unions = [[one]] }
        for name in [one, two] { try sample.set(name, #"["x","mine"]"#) }
        try sample.pull(#"{"id":"r","\#(one)":["x","theirs"],"\#(two)":["x","theirs"]}"#)
        let shown = try #require(sample.planner.shown(sample.row))
        #expect(shown[one]?.text == #"["x","theirs","mine"]"#)
        #expect(shown[two]?.text == #"["x","theirs"]"#)

        var stamped = try PlannerSample(#"{"id":"r","\#(one)":1}"#) {
            $0.stamp = StampPlace(path: [two], format: .milliseconds)
        }
        try stamped.set(one, "2")
        try stamped.pull(#"{"id":"r","\#(one)":1,"x":1}"#)
        #expect(stamped.planner.shown(stamped.row)?[one]?.text == "2")
    }

    @Test func listThatTheServiceRemovedStaysRemoved() throws {
        var sample = try sample { $0.unions = [["l"]] }
        try sample.set("l", "[]")
        try sample.pull(#"{"id":"r","a":1,"b":1}"#)
        #expect(sample.row.writes.isEmpty)
    }

    @Test func writeThatIsSentIsShownAndNotTouched() throws {
        var sample = try sample { $0.conflict = ServerWins() }
        try sample.set("a", "2")
        try sample.send()
        let patch = sample.row.writes[0].patch
        try sample.pull(#"{"id":"r","a":9,"b":1,"l":["x"]}"#)
        #expect(sample.row.writes[0].patch == patch)
        #expect(sample.planner.shown(sample.row)?["a"]?.text == "2")
    }

    @Test func deletionWinsAndLeavesALetter() throws {
        var sample = try sample()
        try sample.set("a", "2")
        try sample.pull(nil)
        #expect(sample.row.isGone)
        #expect(sample.effects.letters.map(\.reason) == [.overtaken])
        #expect(sample.effects.letters[0].shown?["a"]?.text == "2")
    }

    @Test func clientWinsMakesADeletedRecordAnew() throws {
        var sample = try sample { $0.conflict = ClientWins() }
        try sample.set("a", "2")
        try sample.pull(nil)
        #expect(sample.kinds == [.create])
        #expect(sample.planner.shown(sample.row)?["a"]?.text == "2")
    }

    @Test(arguments: [(2_000_000, true), (1_000, false)])
    func laterEditElsewhereWinsOverADeletion(_ time: Int, _ isThere: Bool) throws {
        var sample = try PlannerSample(#"{"id":"r","a":1,"t":5}"#) {
            $0.stamp = StampPlace(path: ["t"], format: .milliseconds)
        }
        try sample.write(.delete)
        try sample.pull(#"{"id":"r","a":9,"t":\#(time)}"#)
        #expect((sample.shown != nil) == isThere)
    }

    @Test func changeOfARecordThatIsNotKnownEndsWithItsDeletion() throws {
        var sample = try sample()
        try sample.set("a", "2")
        sample.planner.forgetBase(&sample.row)
        try sample.pull(nil)
        #expect(sample.row.isGone)
        #expect(sample.effects.books == Books(made: 1, overtaken: 1))
    }

    @Test func ownAcceptedChangeIsNoConflict() throws {
        var sample = try sample { $0.conflict = LastWriteWins(isAboutRecords: true) }
        try sample.set("a", "2")
        try sample.answer(.accepted(nil))
        try sample.set("b", "2")
        try sample.pull(#"{"id":"r","a":2,"b":1,"l":["x"]}"#)
        #expect(sample.effects.conflicts == 0)
        #expect(sample.shown == #"{"id":"r","a":2,"b":2,"l":["x"]}"#)
    }
}
