import LarderFoundation
import LarderSimulation
import Testing

@testable import LarderSystem

@Suite struct SystemPowerTests {
    private static let battery = PowerSupply(kind: "Battery", status: "Discharging")
    private static let mouse = PowerSupply(kind: "Battery", status: "Discharging", isOfAccessory: true)

    @Test(
        arguments: [
            (nil, nil), ([], true), ([mouse], true), ([battery], false), ([mouse, battery], false),
            ([PowerSupply(kind: "Battery", status: "Charging")], true),
            ([PowerSupply(kind: "Battery", status: "Full")], true),
            ([PowerSupply(kind: "Battery", status: "Not charging")], true),
            ([PowerSupply(kind: "Battery", status: "Unknown")], nil),
            ([battery, PowerSupply(kind: "Mains", isOnline: true)], true),
            ([battery, PowerSupply(kind: "Mains", isOnline: false)], false),
            ([battery, PowerSupply(kind: "USB", isOnline: true)], true),
            ([PowerSupply(kind: "Mains", isOnline: false)], true),
        ] as [([PowerSupply]?, Bool?)])
    func suppliesTellWhetherTheDeviceIsCharging(_ supplies: [PowerSupply]?, _ isCharging: Bool?) {
        #expect(SystemPower.isCharging(supplies) == isCharging)
    }

    @Test func suppliesAreReadFromAFolder() throws {
        let folder = try TemporaryFolder()
        #expect(PowerSupply.all(in: folder.path + "/missing") == nil)
        for (file, text) in [
            ("AC/type", "Mains\n"), ("AC/online", "0\n"), ("BAT0/type", "Battery\n"), ("BAT0/status", "Not charging\n"),
            ("mouse/type", "Battery\n"), ("mouse/scope", "Device\n"), ("odd/status", "Full\n"),
        ] {
            try folder.write(text, to: file)
        }
        #expect(
            PowerSupply.all(in: folder.path) == [
                PowerSupply(kind: "Mains"), PowerSupply(kind: "Battery", status: "Not charging"),
                PowerSupply(kind: "Battery", isOfAccessory: true),
            ])
    }

    @Test func worldAsksItsSource() {
        let power = ManualPower()
        let world = SystemWorld(power: power)
        #expect(world.isCharging == nil)
        power.isCharging = true
        #expect(world.isCharging == true)
    }
}
