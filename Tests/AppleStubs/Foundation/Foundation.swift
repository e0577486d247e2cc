// Apple's Foundation, of which the modules of the toolchain are parts.
// Missing on iOS, tvOS, watchOS, visionOS: Process, Host
// swift-format-ignore-file

@_exported public import AppleDispatch
@_exported public import CoreFoundation
@_exported public import Darwin
@_exported public import FoundationEssentials
@_exported public import FoundationInternationalization

// From developer.apple.com/documentation/foundation/url_loading_system

@_exported public import class FoundationNetworking.CachedURLResponse
@_exported public import class FoundationNetworking.HTTPCookie
@_exported public import class FoundationNetworking.HTTPCookieStorage
@_exported public import class FoundationNetworking.HTTPURLResponse
@_exported public import class FoundationNetworking.URLCache
@_exported public import class FoundationNetworking.URLCredentialStorage
@_exported public import class FoundationNetworking.URLResponse
@_exported public import struct FoundationNetworking.URLRequest
