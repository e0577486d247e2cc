extension Report {
    /// The report as one page.
    var html: String { "" }
}
