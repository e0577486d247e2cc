// Apple's Foundation, of which the toolchain's modules are parts.
// Missing on iOS, tvOS, watchOS, visionOS: Process, Host

@_exported import AppleDispatch
@_exported import Darwin
@_exported import FoundationEssentials
@_exported import FoundationInternationalization
@_exported import FoundationNetworking
