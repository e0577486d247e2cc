// From github.com/swiftlang/swift/blob/main/stdlib/public/Platform/POSIXError.swift. Linux has more cases.
// swift-format-ignore-file

@_exported public import enum Glibc.POSIXErrorCode
