extension Command {
    static let records = Command(
        name: "records", summary: "Looks into the records of an app on this device, and checks them.",
        details: """
            RESOURCE is the name of a resource whose policy has a section 'records', or the path of its policy file. --data names
            the app's folder for data. Nothing in it is changed, and the app may be running.

            Ids, accounts and the values of records may be private, so they are shown only with --values. Otherwise digests of 12
            digits stand in their place.

            Exit code of 'get': 0 if the record is there. Exit code of 'verify': 0 if nothing is wrong.
            """,
        subcommands: [.listRecords, .showRecord, .verifyRecords])
}
