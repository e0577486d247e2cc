extension JSON {
    /// Reads JSON text, which may be hostile. It is read as strictly as a policy: duplicate names, comments and trailing
    /// commas are errors.
    ///
    /// - Parameters:
    ///   - bytes: the text in UTF-8.
    ///   - name: the name of its file in the problem.
    /// - Throws: ``Problem`` with the position of the first mistake. Also if there are more than 500,000 values.
    public init(reading bytes: [UInt8], called name: String = "text") throws(Problem) {
        do throws(JSONError) {
            self = try JSONParser.parse(SourceText(name: name, bytes: bytes), mostValues: 500_000).json
        } catch {
            throw Problem(error)
        }
    }
}
