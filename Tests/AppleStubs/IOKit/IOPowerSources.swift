// Platforms: macOS
// swift-format-ignore-file
@_exported public import CoreFoundation
public import Foundation

// From IOKit/ps/IOPowerSources.h

public var kIOPMACPowerKey: String { fatalError() }
public func IOPSCopyPowerSourcesInfo() -> Unmanaged<CFTypeRef>! { fatalError() }
public func IOPSGetProvidingPowerSourceType(_ snapshot: CFTypeRef!) -> Unmanaged<CFString>! { fatalError() }
