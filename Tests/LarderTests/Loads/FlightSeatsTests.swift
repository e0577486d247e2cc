import LarderSystem
import Testing

@testable import LarderCore

/// The seats of a flight, and the marks of readings among the writes of a key.
@Suite struct FlightSeatsTests {
    @Test func busySeatsAreTakenInOrderAndIdleOnesStay() {
        let told = Locked<[UInt64]>([])
        func lingering(_ number: UInt64) -> FlightSeat {
            .lingering(alarm: Alarm {}) { _ in told.withLock { $0.append(number) } }
        }
        var seats = FlightSeats()
        seats[1] = lingering(1)
        for number in UInt64(2)...9 { seats[number] = number % 3 == 0 ? .idle(isWoken: false) : lingering(number) }
        let (first, others) = seats.removeBusy()
        first?.tell(.answered)
        for seat in others { seat.tell(.answered) }
        #expect(told.withLock { $0 } == [1, 2, 4, 5, 7, 8])
        for number in UInt64(1)...9 { #expect((seats[number] != nil) == (number % 3 == 0)) }
        for number in [UInt64(3), 6, 9] { #expect(seats.remove(number) != nil) }
        #expect(seats.isEmpty && seats.remove(3) == nil)
    }

    @Test func seatTakenAfterTheFirstWasLeftIsFound() {
        var seats = FlightSeats()
        seats[1] = .idle(isWoken: false)
        seats[2] = .idle(isWoken: false)
        #expect(seats.remove(1) != nil)
        seats[3] = .idle(isWoken: true)
        #expect(!seats.isEmpty && seats[1] == nil && seats[2] != nil && seats[3] != nil)
    }

    @Test func readingThatBeganBeforeAWriteChangesNothing() async {
        let order = KeyTable()
        let (key, other) = (Key(resource: "feed"), Key(resource: "images"))
        let load = order.begin(key)
        let (early, late) = (order.mark(key, for: load), order.mark(key, for: nil))
        #expect(await order.perform(early.ticket(), if: .untouched) {} == .done)
        #expect(await order.perform(late.ticket(), if: .untouched) {} == .overtaken)
        #expect(await order.perform(order.mark(key, for: load).ticket(), if: .untouched) {} == .done)
        // The ticket of a load says nothing about another key.
        #expect(await order.perform(order.mark(other, for: load).ticket(), if: .untouched) {} == .done)
    }
}
