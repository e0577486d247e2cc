/// A promise that plugins make to their users.
///
/// A conformance suite checks the promises of its kind of plugin, if they apply to the traits that the plugin declares.
public enum Promise: String, CaseIterable, Sendable {
    // MARK: Every kind

    /// A policy can name the plugin with the settings of the test.
    case composes = "can be composed"
    /// Every call ends, and so does all work that it starts.
    case endsEverything = "leaves nothing running"
    /// The traits that the plugin declares are true.
    case traits = "declares correct traits"

    // MARK: Strategies

    /// A copy is shown only while a window permits it. Windows are half-open.
    case window = "never shows a copy past its window"
    /// A copy permitted on error is shown only after the call failed or exceeded patience or deadline.
    case uses = "shows a copy only for what it is permitted for"
    /// Freshness, age and source of the result are correct, and so is the mark that it stands in for a failed call.
    case label = "labels results correctly"
    /// A copy that is fresh or permitted on error is shown when the origin fails.
    case standIn = "shows a permitted copy when the origin fails"
    /// An answer that is an error is thrown unchanged, even if there is a copy. 404 and 410 remove the copy.
    case answers = "never masks the origin's answer"
    /// If everything fails, the caller gets the origin's own error, with the store's error attached.
    case ownError = "throws the origin's own error, with the store's attached"
    /// A caller that waits for the origin receives its answer.
    case delivers = "delivers what the origin sends"
    /// A strategy that declares patience shows a permitted copy when patience ends. Without one it keeps waiting.
    case patience = "respects its patience"
    /// At the caller's deadline, the load ends with a permitted copy or else with the error `deadline`.
    case deadline = "honours the caller's deadline"
    /// Equal requests at the same time share one call of the origin.
    case oneFlight = "makes one call for equal requests"
    /// A call names the present copy, so that the origin can answer "unchanged".
    case conditional = "names its copy in the call"
    /// A cancelled load ends at once, with a `CancellationError`.
    case cancellation = "rethrows cancellation at once"
    /// A call continues while it has a waiter, and ends with the last one. A cancelled waiter does not affect the
    /// others.
    case freesFlight = "ends the call with its last waiter"
    /// A stale copy that is shown is refreshed in the background. The refresh outlives its caller.
    case refreshes = "refreshes the stale copy it shows"
    /// The origin's answer is saved, and only by the live side. A failure saves nothing.
    case saves = "saves what the origin sends, through the live side only"
    /// The answer of a call that began before a clearing is not saved after it.
    case clearing = "saves nothing that was cleared"
    /// The answer of the later call is the newer one, even if it arrives earlier.
    case lateAnswer = "lets no late answer replace a newer one"
    /// A payload that cannot be decoded is a failure of the origin and is not kept.
    case undecodable = "keeps nothing that cannot be decoded"
    /// A load with the mode `cachedOnly` does not call the origin.
    case cachedOnly = "never calls the origin for a load of copies only"
    /// A load with the mode `refresh` calls the origin, even if there is a fresh copy.
    case refreshMode = "calls the origin for a refresh"
    /// The strategy uses origin and store only if it declares that it needs them.
    case needs = "uses only the sides it declares"
    /// No load receives the value of another key or account.
    case isolation = "never shows one account another's value"

    // MARK: Wrappers

    /// The call reaches the origin unchanged. Payload, metadata and source reach the caller unchanged.
    case passesOn = "passes calls and values on as they are"
    /// For one load, the origin is called once, or at most as often as the wrapper declares.
    case tries = "calls the origin no more often than it declares"
    /// An answer that is an error is rethrown unchanged and not retried. It does not count as a failure.
    case answersPass = "rethrows answers unchanged and without a retry"
    /// Cancelling a load cancels the call it wraps.
    case cancelsInner = "cancels the call it wraps"
    /// A cancelled call does not count as a failure of the origin: the next call is made.
    case pardonsCancellation = "does not count cancellation as a failure"
    /// A load that fails throws the inner error, or a `LoadError` that says what the wrapper did.
    case innerError = "keeps the inner error when it gives up"
    /// A wrapper that declares a time limit ends in time, even if the call ignores cancellation.
    case givesUp = "respects its declared time limit"
    /// The state of one composition does not affect another.
    case ownState = "shares no state between compositions"
    /// A call that changes something at the origin is not repeated, unless the wrapper declares `repeatsSends`.
    case repeatsNoSend = "does not repeat a call that changes something"
    /// Each of many simultaneous loads gets its own value.
    case concurrency = "gives each of many simultaneous loads its own value"

    // MARK: Stores

    /// A read returns the bytes that were written.
    case readsWrites = "reads what was written"
    /// After a write, no older entry is found.
    case replaces = "replaces the old entry by the new one"
    /// Every field of the metadata is read as it was written.
    case metadata = "keeps all metadata"
    /// A removal, by key, account or tag or of everything, removes the selected entries and no others.
    case removes = "removes the selected entries and no others"
    /// An expired entry can still be read and is marked as expired. No other entry is marked.
    case expires = "keeps expired entries and marks them"
    /// A renewal keeps the metadata of an entry without changing the payload, or says that it did not.
    case renews = "renews the metadata of the payload it keeps"
    /// A store says that it contains an entry exactly when a read returns one.
    case contains = "knows which entries it contains"
    /// A store that can list its entries lists each of them once.
    case lists = "lists each entry once"
    /// A store that can pin entries does not evict pinned ones, also after a restart.
    case pins = "never evicts a pinned entry"
    /// A store around another one forwards every call to it, or does its own work for it.
    case forwards = "forwards every call to the store it wraps"
    /// Two keys that differ at all are different, even if they contain unusual characters.
    case keys = "keeps keys and accounts apart"
    /// A peek that is refused leaves no trace. A peek that returns an entry returns the right one.
    case peek = "returns the right entry or nothing when peeked"
    /// The store respects the capacity and the age that it declares.
    case capacity = "respects its capacity and age"
    /// The numbers of entries, bytes, hits and misses are correct.
    case statistics = "reports correct statistics"
    /// A store outside the process's memory keeps its entries across a restart and declares them as foreign.
    case reopens = "keeps its entries across a restart"
    /// A store whose folder was deleted while it is in use makes the folder again for a write, and has nothing to remove.
    case restoresFolder = "goes on when its folder was deleted"

    // MARK: Evictions

    /// Each place that the eviction names is filled, and is named only once until it is filled again.
    case namesFilled = "names only filled places, and each once"
    /// The eviction names a place while one is filled, and none when all are empty.
    case namesWhileFilled = "names a place while one is filled"
    /// A place that the store emptied on its own is not named until it is filled again.
    case namesNoneRemoved = "names no place that was emptied"
    /// Uses and changes of empty places have no effect.
    case unknownPlaces = "ignores reports about empty places"
    /// Uses that are reported together have the same effect as the same uses reported one by one.
    case usesTogether = "treats uses reported together as single ones"
    /// The same history leads to the same choices. The eviction uses neither random numbers nor a clock of its own.
    case sameChoices = "makes the same choices after the same history"

    // MARK: Validators

    /// The rule for fresh copies permits exactly what the validator permits when it is asked.
    case rule = "permits what its rule permits"
    /// The same question always has the same answer, regardless of questions in between.
    case deterministic = "gives the same answer to the same question"
    /// A payload that is admitted from the origin, to be kept, is also admitted to be kept from a store and when the
    /// origin calls it unchanged, and is permitted for some use.
    case consistent = "permits what it admits"
    /// A use that was refused stays refused as the copy ages.
    case narrows = "never permits more as time goes by"
    /// The end of a window does not belong to the window.
    case halfOpen = "has half-open windows"
    /// Age counts from the last validation, or else from the fetch, and includes the age on arrival. An entry from the
    /// future is not fresh.
    case age = "counts age from validation or fetch only"
    /// Every refusal has a reason, and no reason contains payload.
    case reasons = "gives a reason for each refusal"
    /// Admitting an entry changes at most the notes in its metadata.
    case leavesPayload = "changes neither payload nor times"
    /// Notes under the keys of other plugins stay as they are.
    case keepsNotes = "leaves the notes of other plugins alone"

    // MARK: Origins

    /// The origin answers "unchanged" only if the call named a copy.
    case unchanged = "answers unchanged only if the call named a copy"
    /// A failure is an error other than cancellation. Its message contains neither parameters nor payload.
    case failures = "throws errors without parameters or payload"
    /// The same request in a world with the same seed gets the same payload.
    case repeatable = "sends the same for the same request and seed"

    // MARK: Pullers

    /// Every record of the service arrives, and so does each later change, also one that is made during a pull.
    case brings = "brings every record and every change"
    /// Deletions at the service are told.
    case tellsDeletions = "tells deletions"
    /// A pull has a last page.
    case pagesEnd = "comes to a last page"
    /// A failure is an error, and never an empty page.
    case tellsFailures = "takes no failure for an answer"
    /// A position that the service has forgotten is `PullError.positionExpired`.
    case tellsExpiry = "tells that a position has expired"

    // MARK: Pushers

    /// New records, changes and deletions arrive, and count as accepted.
    case arrives = "makes each change at the service"
    /// Each change has the outcome that the service gave it.
    case ownOutcomes = "tells the outcome of each change"
    /// Without an answer of the service, no change counts as made or refused.
    case claimsNothing = "claims no decision that the service has not made"
    /// A change that is sent twice is made once, because its key goes with it.
    case appliesOnce = "sends the key of a change with it"
    /// A missing sign-in is no refusal of a change.
    case tellsSignOut = "tells that nobody is signed in"
    /// A change of a record that somebody else has changed is a conflict.
    case tellsConflicts = "tells conflicts"
    /// A new record that the service names comes back with its id.
    case tellsNames = "tells the ids of new records"

    // MARK: Rules for conflicts

    /// The result is the same whichever side is whose.
    case sidesAlike = "treats both sides alike"
    /// The result of three changes is the same in whatever order they meet.
    case ordersAlike = "has the same result in any order"
}
