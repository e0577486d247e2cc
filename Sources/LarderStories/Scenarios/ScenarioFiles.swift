import Larder
import LarderSystem

/// Finds and reads files of scenarios.
package struct ScenarioFiles {
    let registry: Registry
    /// The resources that have policies.
    let resources: [String]

    /// The result of reading a file.
    struct Verdict {
        var path: String
        /// The scenarios; nil if the file is not sound.
        var file: ScenarioFile?
        /// The problems of the file, in their order in the file.
        var problems: [Problem]
    }

    /// Reads the files of a folder, or one file.
    func judge(_ path: String) -> [Verdict] {
        if path.hasSuffix(".json"), Disk.item(path)?.isFolder != true {
            let (folder, name) = Disk.split(path)
            return [judge(name, in: folder)]
        }
        do {
            let names = try Disk.list(path).filter { !$0.isFolder && Self.isScenarioFile($0.name) }.map(\.name).sorted()
            if names.isEmpty {
                let problem = Problem(
                    "there are no scenarios in this folder", file: path, expected: "a file such as feed.json")
                return [Verdict(path: path, problems: [problem])]
            }
            return names.map { judge($0, in: path) }
        } catch {
            let problem = Problem("the folder of scenarios cannot be read: \(error)", file: path)
            return [Verdict(path: path, problems: [problem])]
        }
    }

    /// Whether a folder has a file of scenarios.
    package static func areThere(in folder: String) -> Bool {
        (try? Disk.list(folder))?.contains { !$0.isFolder && isScenarioFile($0.name) } ?? false
    }

    /// Whether a file has a name that a policy could have.
    private static func isScenarioFile(_ name: String) -> Bool {
        name.hasSuffix(".json") && PolicyReader.isName(String(name.dropLast(".json".count)))
    }

    private func judge(_ name: String, in folder: String) -> Verdict {
        let path = folder == "." ? name : folder + "/" + name
        let reading = PartReader(registry: registry, folder: folder, file: path)
        do {
            let root = try PolicyFiles(folder: folder).root(of: name)
            let file = SettingType.scenarioFile(of: resources).read(root, reading)
            let problems = reading.problems.sorted(by: Problem.standsBefore)
            return Verdict(path: path, file: reading.isSound ? file : nil, problems: problems)
        } catch {
            return Verdict(path: path, problems: [error])
        }
    }
}
