/// What plugins promise to those who use them: one name for each, and what it means.
///
/// A conformance suite checks those of its kind, as far as they apply to what the plugin declares about itself.
public enum Promise: String, CaseIterable, Sendable {
    // MARK: Every kind

    /// A policy can name it, with the settings it is to be used with.
    case composes = "can be composed"
    /// What it is asked ends, and so does everything it starts on the way.
    case endsEverything = "leaves nothing running"
    /// It declares of itself what is so.
    case traits = "declares its traits truly"

    // MARK: Strategies

    /// A copy is shown only while a window lasts that allows it. Windows are half-open.
    case window = "never shows a copy past its window"
    /// A copy that may be shown on error is shown when a call failed or overran patience or deadline, and not before.
    case uses = "shows a copy only for what it is permitted for"
    /// Freshness, age, source, and whether it stands in for a call: all of them are true.
    case label = "labels what it shows truly"
    /// A copy that is fresh or permitted on error is shown when the origin fails.
    case standIn = "lets a permitted copy stand in when the origin fails"
    /// An answer that is an error is thrown as it is, whatever is cached; 404 and 410 drop the copy.
    case answers = "never masks the origin's answer"
    /// When everything fails the caller gets the origin's own error, with the store's beside it.
    case ownError = "throws the origin's own error, with the store's beside it"
    /// What the origin sends reaches the caller who waits for it.
    case delivers = "delivers what the origin sends"
    /// A strategy that declares patience shows a permitted copy when it ends, and waits on without one.
    case patience = "keeps to its patience"
    /// At the caller's deadline a copy that may be shown is, else the load ends with the error `deadline`.
    case deadline = "honours the caller's deadline"
    /// However many want the same thing at the same time, the origin is called once.
    case oneFlight = "makes one call for all who want the same"
    /// A call names the copy that is there, so that the origin may say "unchanged".
    case conditional = "names the copy it has to the origin"
    /// A cancelled load ends at once, with a `CancellationError`.
    case cancellation = "rethrows cancellation, at once"
    /// A call lives while one of its waiters remains, and no longer; who leaves disturbs no other.
    case freesFlight = "frees the flight of a cancelled caller"
    /// A stale copy that is shown is refreshed in the background, and the refresh outlives its caller.
    case refreshes = "refreshes the stale copy it shows"
    /// What the origin sends is saved, by the live side and by nobody else; a failure changes nothing.
    case saves = "saves what the origin sends, through the live side only"
    /// What was asked for before a clearing is not saved after it.
    case clearing = "saves nothing that was cleared"
    /// Newer is what was asked for later, not what arrived later.
    case lateAnswer = "lets no late answer win"
    /// A payload that does not decode is a failure of the origin, and is not kept.
    case undecodable = "keeps nothing that does not decode"
    /// A load that wants copies only calls nobody.
    case cachedOnly = "never calls the origin for a load that wants copies only"
    /// A load that wants a refresh asks the origin, whatever is cached.
    case refreshMode = "asks the origin when a refresh is wanted"
    /// It neither calls an origin nor touches a store that it does not declare a need for.
    case needs = "uses only the sides it declares"
    /// No load sees what belongs to another key or account.
    case isolation = "never shows one account another's value"
    /// Asked for an answer at once and having none, it leaves everything as it was.
    case noTrace = "leaves no trace when it cannot answer at once"

    // MARK: Wrappers

    /// Payload, metadata and source come out as they went in, and so does the call on its way in.
    case passesOn = "passes calls and values on as they are"
    /// The origin is called once for a load, or as often as the wrapper declares.
    case tries = "calls the origin no more often than it declares"
    /// An answer that is an error is rethrown untouched, not tried again, and held against nobody.
    case answersPass = "rethrows answers untouched and untried"
    /// Cancelling a load cancels the call it wraps.
    case cancelsInner = "cancels the call it wraps"
    /// A call that was cancelled says nothing about its origin: the next one is made.
    case pardonsCancellation = "holds no cancellation against the origin"
    /// A load that fails tells why: with the inner error, or with a ``LoadError`` that says what the wrapper did.
    case innerError = "keeps the inner error when it gives up"
    /// A wrapper that declares when it gives up does so in time, whether or not the call heeds its cancellation.
    case givesUp = "gives up when it says it does"
    /// What it learned about one origin is not held against another.
    case ownState = "keeps its state to one composition"
    /// Many loads at a time get each its own value.
    case concurrency = "stands many loads at a time"

    // MARK: Stores

    /// What was written is read, byte for byte.
    case readsWrites = "reads what was written"
    /// After a write, nothing older is found.
    case replaces = "forgets the old entry for the new"
    /// Every field of the metadata comes back as it was.
    case metadata = "keeps all metadata"
    /// What is removed, by key, by account or altogether, is gone, and nothing else is.
    case removes = "removes what it is told to, and nothing else"
    /// An expired entry is found as it was, with its mark, and no other entry bears it.
    case expires = "keeps an expired entry, marked"
    /// Keys that differ, however slightly, are different; whatever is in them.
    case keys = "keeps keys and accounts apart"
    /// A lookup that is not wanted leaves no trace, and one that gives an entry gives the right one.
    case peek = "peeks honestly"
    /// A store that declares a capacity or an age keeps to it.
    case capacity = "keeps to its capacity"
    /// Entries, bytes, hits and misses agree with what happened.
    case statistics = "counts truly"
    /// A store outside the process's memory has its entries after a restart, and says that they come from outside.
    case reopens = "has its entries after a restart"

    // MARK: Evictions

    /// The place it names has an entry in it, which it has not named since it was filled.
    case namesFilled = "names only places that are filled, and each once"
    /// While a place is filled it names one, and none once all are empty.
    case namesWhileFilled = "names a place while one is filled"
    /// A place that was emptied without being asked for is not named until it is filled again.
    case heedsRemovals = "names no place that was emptied"
    /// Uses and changes of places that are empty, or never were filled, change nothing.
    case unknownPlaces = "does nothing about places that are empty"
    /// Uses that are told of together are the same as one after the other.
    case usesTogether = "takes many uses as it takes each"
    /// The same history leads to the same choices: it has neither chance nor a clock of its own.
    case sameChoices = "chooses the same after the same history"

    // MARK: Validators

    /// The same question has the same answer, whatever was asked in between.
    case deterministic = "gives the same answer to the same question"
    /// What it admits from the origin it admits from a store, and lets be used for something.
    case consistent = "permits what it admits"
    /// What was refused stays refused as time goes by.
    case narrows = "never permits more as time goes by"
    /// A window's end is no part of it.
    case halfOpen = "has half-open windows"
    /// Age counts from the last validation, or else from the fetching; an entry from the future is not fresh.
    case age = "tells age by validation and fetching only"
    /// Every refusal gives a reason, and no reason gives a payload away.
    case reasons = "gives a reason for each refusal"
    /// Admitting notes something in the metadata at most.
    case leavesPayload = "leaves the payload and its times alone"

    // MARK: Origins

    /// "Unchanged" is said only of a copy that the call named.
    case unchanged = "says unchanged only of a copy it was told of"
    /// A failure is an error, not cancellation, and holds neither parameter nor payload in its words.
    case failures = "fails with errors that give nothing away"
    /// The same world and request give the same payload.
    case repeatable = "sends the same for the same request and seed"
}
