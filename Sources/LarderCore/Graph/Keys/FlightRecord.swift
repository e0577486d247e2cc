/// A call under way for a key, and whether callers may still join it.
struct FlightRecord {
    let flight: Flight
    var isOpen = true
}

extension KeyState {
    /// Returns the flight that calls with this identity may join.
    func openFlight(_ identity: Flight.Identity) -> Flight? {
        flights.first { $0.isOpen && $0.flight.identity == identity }?.flight
    }

    /// Closes the flight with this identity to further callers.
    func closeFlight(_ identity: Flight.Identity) {
        for index in flights.indices where flights[index].flight.identity == identity { flights[index].isOpen = false }
    }

    /// Closes all flights to further callers.
    func closeFlights() {
        for index in flights.indices { flights[index].isOpen = false }
    }
}
