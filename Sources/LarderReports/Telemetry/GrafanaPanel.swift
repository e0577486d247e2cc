import Larder

/// A panel of a dashboard: a chart or a table over some queries.
struct GrafanaPanel {
    /// A query and the name of its series.
    struct Query {
        var expression: String
        var legend: String

        init(_ expression: String, _ legend: String) {
            self.expression = expression
            self.legend = legend
        }
    }

    /// The unit of the numbers, by Grafana's name for it.
    enum Unit: String {
        case share = "percentunit"
        case seconds = "s"
        case bytes = "bytes"
        case bytesPerSecond = "Bps"
        case perSecond = "cps"
        case count = "short"
    }

    /// The kind of a panel, by Grafana's name for it.
    enum Kind: String {
        case lines = "timeseries"
        case table = "table"
    }

    /// The reference to the data source that a user of the dashboard chooses.
    static let source: JSON = ["type": "prometheus", "uid": "${datasource}"]
    static let width = 8
    static let height = 8

    var title: String
    var about: String
    var unit: Unit
    var kind = Kind.lines
    /// Whether lines are steps, for values that jump.
    var isStepped = false
    var queries: [Query]

    init(
        _ title: String, about: String, unit: Unit, queries: [Query], kind: Kind = .lines, isStepped: Bool = false
    ) {
        (self.title, self.about, self.unit, self.queries) = (title, about, unit, queries)
        (self.kind, self.isStepped) = (kind, isStepped)
    }

    /// Returns the panel at a place of the grid.
    func json(id: Int, x: Int, y: Int) -> JSON {
        [
            "id": .int(id), "type": .string(kind.rawValue), "title": .string(title), "description": .string(about),
            "datasource": Self.source,
            "gridPos": ["h": .int(Self.height), "w": .int(Self.width), "x": .int(x), "y": .int(y)],
            "fieldConfig": ["defaults": defaults, "overrides": []], "options": options,
            "targets": .list(
                queries.enumerated().map { number, query in
                    .present([
                        "refId": .string(Self.name(of: number)), "datasource": Self.source, "editorMode": "code",
                        "expr": .string(query.expression), "legendFormat": .string(query.legend),
                        "instant": kind == .table ? true : nil, "format": kind == .table ? "table" : nil,
                        "range": kind == .table ? nil : true,
                    ])
                }),
        ]
    }

    private var defaults: JSON {
        let lines: JSON = [
            "lineInterpolation": .string(isStepped ? "stepAfter" : "linear"), "fillOpacity": 8, "showPoints": "auto",
            "spanNulls": false,
        ]
        return .present([
            "unit": .string(unit.rawValue), "min": 0, "max": unit == .share ? 1 : nil,
            "custom": kind == .lines ? lines : nil,
        ])
    }

    private var options: JSON {
        guard kind == .lines else { return ["showHeader": true] }
        return [
            "legend": ["displayMode": "list", "placement": "bottom", "showLegend": true],
            "tooltip": ["mode": "multi", "sort": "desc"],
        ]
    }

    /// `A`, `B`, … `Z`, `AA`.
    private static func name(of number: Int) -> String {
        let letter = String(UnicodeScalar(UInt8(65 + number % 26)))
        return number < 26 ? letter : name(of: number / 26 - 1) + letter
    }
}
