import Larder
import Testing

@testable import LarderSync

/// The changes of a record are found, and made to another form of it.
struct PatchTests {
    private func text(_ string: String) throws -> JSONText { try JSONText(string.utf8) }

    private func patch(_ old: String, _ new: String) throws -> Patch {
        Patch(from: try text(old), to: try text(new), shown: try text(old), ignoring: [["id"]])
    }

    @Test func onlyWhatDiffersIsChanged() throws {
        let found = try patch(
            #"{"id":1,"a":1,"b":{"x":1,"y":2},"c":3,"d":null}"#, #"{"id":2,"a":1.0,"b":{"x":1,"y":3,"z":4},"e":5}"#)
        #expect(found.changes.map(\.path) == [["b", "y"], ["b", "z"], ["c"], ["e"]])
        #expect(try found.applied(to: text(#"{"c":0,"f":6}"#)) == text(#"{"f":6,"b":{"y":3,"z":4},"e":5}"#))
    }

    @Test func namesThatDifferOnlyInTheirBytesAreTwoPlaces() throws {
        let (composed, parts) = ("\u{E9}", "e\u{301}")
        let found = try patch(#"{"\#(composed)":1,"\#(parts)":1}"#, #"{"\#(composed)":2,"\#(parts)":3}"#)
        #expect(found.changes.count == 2)
        #expect(found[[composed]]?.after?.integer == 2)
        #expect(found[[parts]]?.after?.integer == 3)
        let swapped = found.setting(FieldChange(path: [parts], before: nil, after: .null))
        #expect(swapped[[composed]]?.after?.integer == 2)
        let other = try Patch([FieldChange(path: [parts], before: text("3"), after: text("4"))])
        #expect(try found.merged(with: other).applied(to: .object) == text(#"{"\#(parts)":4,"\#(composed)":2}"#))
    }

    /// Otherwise it would take hours.
    @Test(.timeLimit(.minutes(1))) func changesOfManyMembersAreFoundAndMade() throws {
        let names = (0..<30_000).map { "member \($0)" }
        let old = JSONText(object: names.map { ($0, .null) })
        let new = JSONText(object: names.map { ($0, .object) })
        let patch = Patch(from: old, to: new, shown: old, ignoring: [["id"]])
        #expect(patch.changes.count == names.count)
        #expect(patch.applied(to: old) == new)
    }
}
