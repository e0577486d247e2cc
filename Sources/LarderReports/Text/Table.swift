import Larder

/// A table as lines of text. The first columns are aligned left, the others right.
package struct Table {
    package let lines: [String]

    /// - Parameter left: the number of columns that are aligned left.
    package init(_ rows: [[String]], left: Int = 1) {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        lines = rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                column < left ? cell.0.padded(to: cell.1) : cell.0.aligned(to: cell.1)
            }.joined(separator: "  ")
        }
    }
}
