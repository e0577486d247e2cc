import Larder

// A sink of metrics, as another module would write it.

/// Writes a line for each number, again and again.
final class Pushed: Attachment {
    private let work: Task<Void, Never>
    private let context: SectionContext
    private let lines: Journal

    init(every pause: Duration, _ context: SectionContext, _ lines: Journal) {
        (self.context, self.lines) = (context, lines)
        work = context.world.spawn {
            while (try? await context.world.sleep(for: pause)) != nil { await Self.push(context, lines) }
        }
    }

    func close() async {
        work.cancel()
        await work.value
        await Self.push(context, lines)
    }

    private static func push(_ context: SectionContext, _ lines: Journal) async {
        guard let dump = await context.ownPantry?.metrics.dump() else { return }
        for family in dump.families {
            for series in family.series {
                guard case .count(let count) = series.value, family.kind == .counter, count > 0 else { continue }
                let labels = series.labels.filter { $0.name == "resource" }.map(\.value).joined()
                lines.note("\(family.name) \(labels) \(count)")
            }
        }
    }
}

extension Plugin {
    static func push(_ lines: Journal) -> Plugin {
        .pantrySection(
            "push", "Writes the metrics elsewhere.",
            Setting("every", .duration, default: .seconds(60), help: "How often")
        ) { context, every in Pushed(every: every, context, lines) }
    }
}
