#if canImport(os)
    public import os

    extension Pantry {
        /// Hands every decision to the system's log, until the attachment is let go: failures as errors, what a copy or a
        /// fallback stood in for as notices, the rest as information.
        public func log(to logger: Logger) -> Attachment {
            let decisions = hearing.decisions
            let number = decisions.add { decision in
                let level: OSLogType =
                    switch decision.kind {
                    case .failed, .storeFault, .refused, .cacheUnusable: .error
                    case .fallback, .breaker, .policy, .cacheUsable, .interrupted: .default
                    case .stale: .info
                    }
                // Nothing in a decision is private: it tells no key, parameter or payload.
                logger.log(level: level, "\(decision.json.text(indented: false), privacy: .public)")
            }
            return Attachment { decisions.remove(number) }
        }
    }
#endif
