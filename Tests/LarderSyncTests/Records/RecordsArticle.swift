import Foundation
import Larder
import LarderSync
import LarderSystem

/// The example of the article "Records".
enum RecordsArticle {
    struct Collection: Codable, Hashable, Sendable {
        var id: String?
        var name: String
        var ownerId: String
        var places: [String]?
        var updatedAt: String?
    }

    struct Note: Codable, Hashable, Sendable {
        var collection: String
        var text: String
    }

    /// The texts that a screen shows.
    final class Screen: Sendable {
        private let texts = Locked<[String]>([])

        var shown: [String] { texts.withLock { $0 } }

        private func add(_ text: String) { texts.withLock { $0.append(text) } }

        func show(_ collection: Collection, isPending: Bool) {
            add(collection.name + (isPending ? " (waits)" : ""))
        }

        func showNothing() { add("absent") }
        func showPlaceholder(_ id: String) { add("placeholder of \(id)") }
        func showSpinner() { add("unknown") }
        func show(_ names: [String]) { add(names.joined(separator: ", ")) }
        func showBanner(_ text: String?) { if let text { add(text) } }
        func keepsMine(_ mine: Collection?, _ theirs: Collection?) -> Bool { true }
    }

    /// Makes again what the service has refused, and tells of it.
    static func recover(_ pantry: Pantry, _ screen: Screen) async throws {
        let collections = pantry.records("collections", of: Collection.self)
        for change in try await collections.rejected() { try await change.restore { $0.name += " (2)" } }
        for await event in pantry.syncEvents {
            if case .rejected = event.kind { screen.showBanner("A change was refused.") }
        }
    }

    /// Makes, changes and reads collections.
    static func run(_ pantry: Pantry, _ me: String, _ oldCollections: [Collection], _ screen: Screen) async throws {
        let collections = pantry.records("collections", of: Collection.self)
        let made = try await collections.create(Collection(name: "Ramen", ownerId: me))
        try await collections.update(made.id) { $0.name = "Ramen & Udon" }

        let notes = pantry.records("notes", of: Note.self)
        try await pantry.write { changes in
            let trip = try changes.create(Collection(name: "Osaka", ownerId: me), in: collections)
            try changes.create(Note(collection: trip.id, text: "Book!"), in: notes)
        }

        for id in [made.id, "42"] {
            switch try await collections.get(id) {
            case .found(let record): screen.show(record.value, isPending: record.state == .pending)
            case .absent: screen.showNothing()
            case .unknown: screen.showSpinner()
            }
        }

        let mine = Query(Collection.owner == me).sorted(by: Collection.updated, .descending).limit(50)
        let page = try await collections.query(mine)
        let inOsaka = try await collections.count(Query(Collection.owner == me && Collection.places.contains("osaka")))
        screen.show(["\(page.records.count) of mine, \(inOsaka) in Osaka"])

        let favorites = [made.id, "42"]
        for (id, lookup) in try await collections.get(favorites, where: Collection.owner == me) {
            switch lookup {
            case .found(let record): screen.show(record.value, isPending: record.state == .pending)
            case .absent, .unknown: screen.showPlaceholder(id)
            }
        }

        try await collections.importing(oldCollections)
        for conflict in try await collections.conflicts() {
            try await collections.resolve(
                conflict.id, with: screen.keepsMine(conflict.mine, conflict.theirs) ? .mine : .theirs)
        }
        try await collections.undo(made.id)
    }

    /// Shows the collections until the pantry is closed.
    static func observe(_ pantry: Pantry, _ me: String, _ list: Screen) async {
        let collections = pantry.records("collections", of: Collection.self)
        let mine = Query(Collection.owner == me).sorted(by: Collection.updated, .descending)
        for await page in collections.observe(mine) {
            list.show(page.records.map(\.value.name))
            list.showBanner(page.isComplete ? nil : "Not everything was loaded yet")
        }
    }
}

extension RecordsArticle.Collection {
    static let owner = Field<String>("ownerId")
    static let updated = Field<Date?>("updatedAt")
    static let places = Field<[String]>("places")
}
