package import LarderSystem

extension MetricsDump {
    /// The facts that tell the source of a dump and its time.
    package struct Head: Sendable, Hashable {
        package var host: String?
        package var installation: String?
        package var process: String
        package var instance: String
        package var number: Int
        package var started: Timestamp
        package var written: Timestamp
    }

    /// The head of this dump.
    package var head: Head {
        Head(
            host: host, installation: installation, process: process, instance: instance, number: number,
            started: started, written: written)
    }

    /// Returns the head of the dump that begins with these bytes. Returns nil if the head is not complete in them, or is
    /// not written before the resources.
    ///
    /// It reads no resource, so the rest of the dump may still be invalid.
    package static func head(beginning bytes: [UInt8]) -> Head? {
        let name = Array(#""resources""#.utf8)
        var place = 0
        while let quote = bytes[place...].firstIndex(of: name[0]) {
            if bytes[quote...].starts(with: name) {
                let text = bytes[..<quote] + Array(#""resources":[]}"#.utf8)
                return (try? MetricsDump(reading: Array(text)))?.head
            }
            place = quote + 1
        }
        return nil
    }
}
