extension Query {
    /// A condition that records meet or do not. It is made with the operators of ``Field``, and joined with `&&`, `||` and
    /// `!`.
    public struct Condition: Sendable {
        indirect enum Form: Sendable {
            case compare([String], Comparison, QueryValue)
            case isOneOf([String], [QueryValue])
            case isNil([String])
            case hasPrefix([String], String)
            case containsText([String], String)
            case containsItem([String], QueryValue)
            case all([Form])
            case any([Form])
            case not(Form)
        }

        enum Comparison: String, Sendable {
            case equal = "="
            case less = "<"
            case lessOrEqual = "<="
            case greater = ">"
            case greaterOrEqual = ">="
        }

        let form: Form

        init(_ form: Form) { self.form = form }

        /// Returns the condition that both are met.
        public static func && (left: Condition, right: Condition) -> Condition {
            // A chain is one list, so a long one is not deep.
            var list = [left.form]
            if case .all(let first) = left.form { list = first }
            if case .all(let more) = right.form { list += more } else { list.append(right.form) }
            return Condition(.all(list))
        }

        /// Returns the condition that at least one of them is met.
        public static func || (left: Condition, right: Condition) -> Condition {
            var list = [left.form]
            if case .any(let first) = left.form { list = first }
            if case .any(let more) = right.form { list += more } else { list.append(right.form) }
            return Condition(.any(list))
        }

        /// Returns the condition that another one is not met. Records without the field are included if it is about a value.
        public static prefix func ! (condition: Condition) -> Condition {
            if case .not(let inner) = condition.form { return Condition(inner) }
            return Condition(.not(condition.form))
        }
    }
}
