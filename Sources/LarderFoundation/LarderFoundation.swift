// Foundation and the C library, which have other names on each platform. All sources import them under this one.

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#endif
// `timespec` belongs to this module of the toolchain in optimised builds.
#if canImport(SwiftOverlayShims)
    @_exported public import SwiftOverlayShims
#endif
