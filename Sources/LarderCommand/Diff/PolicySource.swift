import LarderFoundation
import Larder
import LarderSimulation
import LarderStories
import LarderSystem

/// The policies of one side of a comparison: a file, a folder, or either of them in a revision of a Git repository.
struct PolicySource {
    /// The folder as messages show it.
    private let shown: String
    /// The folder in which the policies are read.
    let folder: String
    /// The name of the only file; nil for all policies of the folder.
    let file: String?
    /// The folder with the files of a revision. It is deleted with the last reference.
    private let extracted: TemporaryFolder?

    /// - Parameters:
    ///   - operand: a path, or a revision such as `HEAD~1` or `main:Policies`. A path that exists is no revision.
    ///   - policies: the folder of policies, to which a revision without a path refers.
    /// - Throws: ``CommandFailure`` if it is neither.
    init(_ operand: String, policies: String) throws {
        if FileManager.default.fileExists(atPath: operand) {
            extracted = nil
            let isFolder = FileManager.default.fileExists(atPath: operand + "/.")
            (folder, file) = isFolder ? (operand, nil) : Disk.split(operand)
            shown = folder
            return
        }
        let temporary = try TemporaryFolder()
        extracted = temporary
        folder = temporary.path
        guard let colon = operand.firstIndex(of: ":") else {
            try GitRevision(name: operand + ":./", operand: operand, folder: policies).write(to: temporary.path)
            (file, shown) = (nil, operand)
            return
        }
        let revision = GitRevision(name: operand, operand: operand, folder: ".")
        guard try revision.isFile() else {
            try revision.write(to: temporary.path)
            (file, shown) = (nil, operand)
            return
        }
        // A policy can extend other files of its folder.
        let end = operand.lastIndex(of: "/") ?? colon
        let above = String(operand[...max(end, colon)])
        try GitRevision(name: above, operand: operand, folder: ".").write(to: temporary.path)
        file = String(operand[operand.index(after: max(end, colon))...])
        shown = above.hasSuffix("/") ? String(above.dropLast()) : above + "."
    }

    /// The policies of a side.
    struct Policies: Sendable {
        let all: [SimulatedPolicy]
        /// Whether they are those of one file.
        let isFile: Bool
    }

    /// Reads the policies.
    ///
    /// - Throws: `PolicyError` with the problems of all policies.
    func policies(
        _ registry: Registry, _ environment: [String: String], lifetimes: [Duration?]
    ) throws -> Policies {
        let reader =
            file.map { PolicyReader(registry: registry, file: folder + "/" + $0, environment: environment) }
            ?? PolicyReader(registry: registry, folder: folder, environment: environment)
        do {
            let all = try reader.readAll().map {
                try SimulatedPolicy(
                    $0, registry: registry, files: folder, environment: environment, lifetimes: lifetimes)
            }
            return Policies(all: all, isFile: file != nil)
        } catch let error as PolicyError where extracted != nil {
            throw PolicyError(
                error.problems.map { problem in
                    var problem = problem
                    if problem.file.hasPrefix(folder) { problem.file = shown + problem.file.dropFirst(folder.count) }
                    return problem
                })
        }
    }
}
