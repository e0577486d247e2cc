import Testing

@testable import LarderSync

struct PlantedMistakeTests {
    @Test(arguments: 0..<PlantedMistake.all.count)
    func plantedMistakeIsFound(_ number: Int) throws {
        let mistake = PlantedMistake.all[number]
        let rules = try #require((SmallWorlds.all + SmallWorlds.forMistakes).first { $0.name == mistake.world })
        var planner = PlannerUnderTest(rules.planner())
        mistake.plant(&planner)
        let report = Explorer(most: 300_000).explore(ModelWorld(rules, planner))
        let found = report.violation
        print("planted: \(mistake.name): \(found?.invariant ?? "not found") after \(report.states) states")
        #expect(found.map { mistake.breaks.contains($0.invariant) } == true, "\(mistake.name): \(report)")
    }
}
