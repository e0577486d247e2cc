// swift-format-ignore-file
@_exported public import CoreFoundation
public import Foundation

// From MacTypes.h
public typealias OSStatus = Int32

// From Security/SecBase.h
public final class SecCertificate {}
public var errSecSuccess: OSStatus { fatalError() }

// From Security/SecCertificate.h
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { fatalError() }

// From Security/SecTrust.h
public final class SecTrust {}
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { fatalError() }
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus { fatalError() }
@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { fatalError() }
