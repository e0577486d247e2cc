/// Advice, and the reason why it is not proposed.
package struct JudgedAdvice {
    package let advice: Advice
    /// The reason why the advice is not proposed; nil if it is.
    package let objection: String?

    package init(_ advice: Advice, objection: String?) {
        self.advice = advice
        self.objection = objection
    }
}
