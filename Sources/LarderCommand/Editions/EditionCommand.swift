extension Command {
    static let edition = Command(
        name: "edition", summary: "Makes, signs and verifies editions: policies that reach apps over the network.",
        details: """
            An edition is a whole set of policies with a number. 'new' makes one of a folder, if 'check', 'test' and 'prove'
            find no error in it. 'sign' signs it with a release key. 'larder channel' says who gets it.

            A key is an Ed25519 key in PEM, as 'edition key' and 'openssl genpkey -algorithm ed25519' write it. '--key -' reads
            it from the input, so that a CI system need not write it to a disk. No command prints a private key, and none
            replaces a file that it was not given.

            'larder edition SUBCOMMAND --help' has an example of each.
            """,
        subcommands: [.makeKey, .newEdition, .signEdition, .verifyEdition])
}
