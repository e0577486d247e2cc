import LarderSystem

/// The form of a clearing in a ``ClearingLog``: a digest of the resource's folder, the kind of the selection, and a digest
/// of the account, tag or key.
enum ClearingRecord {
    private enum Kind: UInt8 {
        case all, scope, tag, key
    }

    private static let folderSize = 7
    private static let size = RecordRing.recordSize

    /// - Parameter folder: the folder of the resource that is cleared; nil if all resources are.
    static func bytes(of selection: Selection, in folder: String?, salt: [UInt8]) -> [UInt8] {
        let place = folder.map { folderDigest($0, salt) } ?? [UInt8](repeating: 0, count: folderSize)
        func record(_ kind: Kind, _ text: [UInt8]) -> [UInt8] {
            place + [kind.rawValue] + digest(kind, text, salt: salt)
        }
        switch selection {
        case .all: return record(.all, [])
        case .scope(let scope): return record(.scope, scopeText(scope))
        case .tag(let tag): return record(.tag, Array(tag.utf8))
        case .key(let key): return record(.key, Array(key.text.utf8))
        }
    }

    private static func scopeText(_ scope: String?) -> [UInt8] { scope.map { [1] + Array($0.utf8) } ?? [0] }

    private static func folderDigest(_ folder: String, _ salt: [UInt8]) -> [UInt8] {
        Array(SHA256.digest(salt + Array(folder.utf8)).prefix(folderSize))
    }

    private static func digest(_ kind: Kind, _ text: [UInt8], salt: [UInt8]) -> [UInt8] {
        Array(SHA256.digest(salt + [kind.rawValue] + text).prefix(size - folderSize - 1))
    }

    /// Returns whether a record is of a clearing of this folder, or of all.
    static func isOf(_ folder: String, _ record: ArraySlice<UInt8>, salt: [UInt8]) -> Bool {
        let place = record.prefix(folderSize)
        return place.allSatisfy { $0 == 0 } || place.elementsEqual(folderDigest(folder, salt))
    }

    /// The digests of one entry, which are compared with records.
    struct Facts {
        private let folder: [UInt8]
        private let scope: [UInt8]
        private let keys: [[UInt8]]
        /// Nil if the tags are unknown.
        private let tags: [[UInt8]]?

        init(_ key: Key, in folder: String, tags: [String]?, salt: [UInt8]) {
            self.folder = ClearingRecord.folderDigest(folder, salt)
            scope = ClearingRecord.digest(.scope, ClearingRecord.scopeText(key.scope), salt: salt)
            keys = (key.isVariant ? [key, key.base] : [key]).map {
                ClearingRecord.digest(.key, Array($0.text.utf8), salt: salt)
            }
            self.tags = tags?.map { ClearingRecord.digest(.tag, Array($0.utf8), salt: salt) }
        }

        /// Returns whether the entry is selected. A record that cannot be read selects every entry.
        func areConcerned(by record: ArraySlice<UInt8>) -> Bool {
            let place = record.prefix(folderSize)
            guard place.allSatisfy({ $0 == 0 }) || place.elementsEqual(folder) else { return false }
            let digest = Array(record.dropFirst(folderSize + 1))
            switch record.dropFirst(folderSize).first.flatMap(Kind.init) {
            case .all, nil: return true
            case .scope: return digest == scope
            case .tag: return tags?.contains(digest) ?? true
            case .key: return keys.contains(digest)
            }
        }
    }
}
