/// Advice, with the reasons against it.
package struct JudgedAdvice {
    package let advice: Advice
    /// The reason why the advice is not proposed; nil if it is.
    package let objection: String?
    /// The reasons why it is not certain that the policy keeps its promises with the advice.
    package let gaps: [String]

    package init(_ advice: Advice, objection: String? = nil, gaps: [String] = []) {
        (self.advice, self.objection, self.gaps) = (advice, objection, gaps)
    }
}
