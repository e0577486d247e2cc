import Larder
import LarderFoundation
import LarderSystem

/// The way in which values become JSON, and JSON becomes values.
struct RecordCoding<Value: Sendable>: Sendable {
    /// The settings of the JSON; nil for the default ones.
    let format: (any JSONFormat.Type)?
    /// Returns a function that encodes values.
    private let encoder: @Sendable () -> (Value) throws -> JSONText
    /// Returns a function that decodes records.
    private let decoder: @Sendable () -> (JSONText) throws -> Value

    /// Returns the record of a value.
    ///
    /// - Throws: ``RecordError`` if it is not written as a JSON object.
    func encode(_ value: Value) throws -> JSONText {
        let text: JSONText
        do { text = try encoder()(value) } catch {
            throw RecordError(.unsuitable, "the value cannot be written as JSON")
        }
        if text.kind != .object { throw RecordError(WriteRefusal.noObject) }
        return text
    }

    /// Returns the value of a record.
    ///
    /// - Throws: ``RecordError`` if it does not decode.
    func decode(_ text: JSONText) throws -> Value {
        do { return try decoder()(text) } catch {
            throw RecordError(.undecodable, "the record does not decode as \(Value.self)")
        }
    }

    /// Returns those records that decode.
    func decode(_ stored: [StoredRecord]) -> [Record<Value>] {
        let decode = decoder()
        var records: [Record<Value>] = []
        records.reserveCapacity(stored.count)
        for stored in stored {
            guard let value = try? decode(stored.shown) else { continue }
            records.append(Record(stored, value))
        }
        return records
    }

    /// Returns the page of some records.
    func page(_ stored: [StoredRecord], isComplete: Bool, error: (any Error)? = nil) -> RecordPage<Value> {
        let records = decode(stored)
        return RecordPage(
            records: records, undecodable: stored.count - records.count, isComplete: isComplete, error: error)
    }

    /// Returns a record.
    ///
    /// - Throws: ``RecordError`` if it does not decode.
    func decode(_ stored: StoredRecord) throws -> Record<Value> { Record(stored, try decode(stored.shown)) }
}

extension RecordCoding where Value: Codable {
    init(format: (any JSONFormat.Type)?) {
        self.format = format
        encoder = {
            let encoder = JSONEncoder()
            format?.configure(encoder)
            return { try JSONText(encoder.encode($0)) }
        }
        // Texts that were checked are not nested too deep for the decoder.
        decoder = {
            let decoder = JSONDecoder()
            format?.configure(decoder)
            return { try decoder.decode(Value.self, from: Data($0.bytes)) }
        }
    }
}

extension RecordCoding where Value == JSONText {
    init() {
        format = nil
        encoder = { { $0 } }
        decoder = { { $0 } }
    }
}

extension Timestamp {
    /// The moment this many milliseconds after the start of 1970.
    init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(nanoseconds: overflow ? (milliseconds < 0 ? .min : .max) : product)
    }
}

extension Record {
    fileprivate init(_ stored: StoredRecord, _ value: Value) {
        self.init(
            id: stored.id, value: value, state: stored.state,
            receivedAt: stored.receivedAt.map { Timestamp(milliseconds: $0) })
    }
}
