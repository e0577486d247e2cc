import LarderFoundation
import Larder

extension Entry {
    /// An entry of a text.
    init(text: String, fetchedAt: Timestamp = Timestamp(seconds: 1_700_000_000)) {
        self.init(Data(text.utf8), Metadata(fetchedAt: fetchedAt))
    }

    /// The payload as text.
    var text: String { String(decoding: payload.bytes, as: UTF8.self) }
}

extension Key {
    /// The key of `feed` for an id.
    static func id(_ id: String, scope: String? = nil) -> Key {
        Key(resource: "feed", scope: scope, parameters: ["id": id])
    }
}

extension Folder {
    /// The names of everything below a folder in it.
    func names(below path: String) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: url.appending(path: path).path)) ?? []).sorted()
    }
}
