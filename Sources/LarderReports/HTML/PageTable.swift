/// A table of a page: a caption, a head, and rows. The first cell of a row names it.
struct PageTable {
    var caption: String
    var columns: [String]
    /// The number of columns with words. The columns after them hold numbers, aligned right.
    var words = 1
    var rows: [[Markup]] = []
    /// Whether a narrow page shows each row as a list, so that no column is out of sight.
    var stacks = false
    /// Whether the table scrolls in a box of its own.
    var isLong = false
    /// Whether a link to a row shows the chart above the table too.
    var isBelowChart = false
    /// The ids of rows that have one, by the index of the row.
    private var ids: [Int: String] = [:]

    init(_ caption: String, _ columns: [String], words: Int = 1, isLong: Bool = false) {
        (self.caption, self.columns, self.words, self.isLong) = (caption, columns, words, isLong)
    }

    mutating func add(_ head: Markup, _ cells: [String], id: String? = nil) {
        ids[rows.count] = id
        rows.append([head] + cells.map { Markup($0) })
    }

    /// The table in a box that scrolls sideways, with the keyboard too, if the page is too narrow.
    var markup: Markup {
        let head = columns.enumerated().map { column, title in
            "<th scope=\"col\"\(kind(column))>\(title)</th>" as Markup
        }
        let body = rows.enumerated().map { row, cells in
            let id = ids[row].map { " id=\"\($0)\"" as Markup } ?? ""
            let cells = cells.enumerated().map { column, cell -> Markup in
                column == 0 ? "<th scope=\"row\">\(cell)</th>" : "<td\(kind(column))\(label(column))>\(cell)</td>"
            }
            return "<tr\(id)>\(Markup(cells, separator: ""))</tr>" as Markup
        }
        let long: Markup = "\(isLong ? " long" : stacks ? " stack" : "")\(isBelowChart ? " below" : "")"
        return """
            <div class="scroll\(long)" role="region" aria-label="\(caption)" tabindex="0"><table>
            <caption>\(caption)</caption>
            <thead><tr>\(Markup(head, separator: ""))</tr></thead>
            <tbody>
            \(Markup(body))
            </tbody></table></div>
            """
    }

    /// The column's title, which a narrow page shows before the cell.
    private func label(_ column: Int) -> Markup {
        stacks && columns.indices.contains(column) ? " data-label=\"\(columns[column])\"" : ""
    }

    private func kind(_ column: Int) -> Markup { column < words ? " class=\"word\"" : "" }
}
