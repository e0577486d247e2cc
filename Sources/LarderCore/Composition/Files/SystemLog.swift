#if canImport(os)
    public import LarderSystem
    public import os

    extension Pantry {
        /// Writes every decision to the system's log until the subscription ends: failures as errors, copies and
        /// fallbacks that were served instead as notices, the rest as information.
        public func log(to logger: Logger) -> Subscription {
            sinks.decisions.add { decision in
                let level: OSLogType =
                    switch decision.kind {
                    case .failed, .storeFault, .refused, .cacheUnusable: .error
                    case .stale: .info
                    default: .default
                    }
                // A decision has no key, parameter or payload, so nothing in it is private.
                logger.log(level: level, "\(decision.json.text(indented: false), privacy: .public)")
            }
        }
    }
#endif
