import Larder
import LarderSystem

extension AdviceBasis {
    /// Advice not to prefetch a list, if most of what was prefetched was wasted.
    ///
    /// Instances that the app prefetches by itself are counted together with those of the list.
    var noPrefetch: Advice? {
        guard let section = self[.prefetch], let figures = PrefetchFigures(metrics), figures.isWaste,
            let sentence = figures.sentence
        else { return nil }
        let wasted = Double(figures.wasted.bytes)
        return advice(
            section, to: nil, effect: .prefetchedWaste, saves: wasted...wasted,
            sentence:
                "\(sentence): \(figures.wasted.copies) copies with \(figures.wasted.bytes) bytes were removed or replaced "
                + "first, and \(figures.used.copies) copies with \(figures.used.bytes) bytes were used; a shorter list "
                + "would waste less, and none would waste nothing. Copies that still wait are not counted")
    }
}
