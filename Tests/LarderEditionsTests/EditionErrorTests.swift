import LarderEditions
import Testing

@Suite struct EditionErrorTests {
    @Test func codeIsReadFromItsName() {
        #expect(EditionError(.reach, "x").code == EditionError.Code(rawValue: "reach"))
    }
}
