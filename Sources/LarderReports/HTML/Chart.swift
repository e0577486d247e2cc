import Larder

/// A drawing with labels around it, and a table of its values below.
///
/// Only the drawing is stretched to the width of the page. Labels are text of the page, so their size is the same on a
/// phone and on a wide screen.
struct Chart {
    static let width = 1_000.0

    var id: String
    var kind: String
    var title: String
    /// The description for readers who cannot see the drawing.
    var summary: String
    var caption: Markup
    var legend: [Markup] = []
    /// The height of the drawing, in its own units and on the page.
    var height: Double
    var pixels: Int
    /// The scales of the drawing, for tests.
    var scale: Markup
    var drawing: [Markup]
    /// The labels below the drawing, and those to its left, from the top.
    var across: [Tick]
    var side: [(place: Double, label: Markup)]
    /// A strip between the drawing and the labels below it, over the same axis; empty for none.
    var strip: Markup = ""
    /// The text above the drawing.
    var above: [Tick] = []
    var values: PageTable

    var markup: Markup {
        """
        <figure class="chart \(kind)" style="--height:\(pixels)px">
        <figcaption>\(caption)</figcaption>
        \(legend.isEmpty ? "" : "<ul class=\"legend\">\(Markup(legend, separator: ""))</ul>" as Markup)
        <div class="frame">
        \(above.isEmpty ? "" : "<div class=\"above\" aria-hidden=\"true\">\(labels(above))</div>" as Markup)
        <div class="side" aria-hidden="true">\(sides)</div>
        <svg role="img" aria-labelledby="\(id)-title" aria-describedby="\(id)-desc" id="\(id)" \
        viewBox="0 0 \(Self.width) \(height)" preserveAspectRatio="none" \(scale)>
        <title id="\(id)-title">\(title)</title>
        <desc id="\(id)-desc">\(summary)</desc>
        <path class="grid" d="\(grid)"/>
        \(Markup(drawing))
        </svg>
        \(strip)
        <div class="across" aria-hidden="true">\(labels(across))</div>
        </div>
        <details><summary>Values: \(title)</summary>
        \(values.markup)
        </details>
        </figure>
        """
    }

    private var grid: Markup {
        Markup(across.map { "M\($0.place * Self.width) 0V\(height)" as Markup }, separator: "")
    }

    private var sides: Markup {
        Markup(side.map { "<span style=\"top:\($0.place * 100)%\">\($0.label)</span>" as Markup }, separator: "")
    }

    /// The labels below. Those at the ends stay within the drawing, and a narrow page shows only a few.
    private func labels(_ ticks: [Tick]) -> Markup {
        let stride = (ticks.count + 3) / 4
        return Markup(
            ticks.enumerated().map { number, tick -> Markup in
                let end: Markup = tick.place < 0.04 ? "first" : tick.place > 0.96 ? "last" : ""
                let minor: Markup = number % stride != 0 ? " minor" : ""
                return "<span class=\"\(end)\(minor)\" style=\"left:\(tick.place * 100)%\">\(tick.label)</span>"
            }, separator: "")
    }

    /// An entry of a legend: a piece of the line and its name.
    static func legend(_ kind: Markup, _ label: Markup) -> Markup {
        """
        <li><svg aria-hidden="true" width="30" height="10" viewBox="0 0 30 10">\
        <path class="line \(kind)" d="M1 5H29"/></svg>\(label)</li>
        """
    }
}
