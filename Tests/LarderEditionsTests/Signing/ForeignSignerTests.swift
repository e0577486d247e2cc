import Foundation
import LarderSimulation
import Testing

@testable import LarderEditions

/// The command `openssl`, version 3 or later.
private enum OpenSSL {
    static let isThere = (try? run(["pkeyutl", "-help"], in: "/"))?.text.contains("-rawin") == true

    @discardableResult
    static func run(_ arguments: [String], in folder: String) throws -> (status: Int32, text: String) {
        #if os(macOS) || os(Linux)
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.currentDirectoryURL = URL(filePath: folder)
            process.arguments = ["openssl"] + arguments
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        #else
            throw CancellationError()
        #endif
    }
}

@Suite(.enabled(if: OpenSSL.isThere, "openssl 3 is not installed")) struct ForeignSignerTests {
    private let folder: TemporaryFolder
    private let message = #"{ "format": "larder-edition/1", "number": 42 }"# + "\n"

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("larder-edition/1\n" + message, to: "message")
    }

    private func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.url.appending(path: name)))
    }

    @Test func keyAndSignatureOfOpenSSLAreRead() throws {
        try OpenSSL.run(["genpkey", "-algorithm", "ed25519", "-out", "key.pem"], in: folder.path)
        try OpenSSL.run(
            ["pkeyutl", "-sign", "-rawin", "-inkey", "key.pem", "-in", "message", "-out", "signature"], in: folder.path)
        let key = try SigningKey(pem: folder.text(of: "key.pem"))
        let line = "\(key.publicKey.id) \(Base64.text(of: try bytes(of: "signature")))"
        let file = try SignedFile(.edition, reading: Array("larder-signed/1\n\(line)\n\n\(message)".utf8))
        #expect(try file.signers(among: [key.publicKey]) == [key.publicKey])
    }

    @Test func keyAndSignatureAreReadByOpenSSL() throws {
        let key = try SigningKey.generate()
        var file = try SignedFile(.edition, payload: Array(message.utf8))
        try file.sign(with: key)
        try folder.write(key.pem, to: "key.pem")
        try Data(file.signatures[0].bytes).write(to: folder.url.appending(path: "signature"))
        try OpenSSL.run(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"], in: folder.path)
        let verify = [
            "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "public.pem", "-in", "message", "-sigfile", "signature",
        ]
        #expect(try OpenSSL.run(verify, in: folder.path).status == 0)
        try folder.write("larder-channel/1\n" + message, to: "message")
        #expect(try OpenSSL.run(verify, in: folder.path).status != 0)
    }
}
