// Apple's URLSession. Unlike the toolchain's, its closures and classes are `Sendable`, and it tells of certificates.
// swift-format-ignore-file

public import Foundation
public import FoundationEssentials
public import FoundationNetworking
public import Security

// From Foundation/NSURLCredential.h

public final class URLCredential: NSObject, @unchecked Sendable {
    public init(trust: SecTrust) {}
}

// From Foundation/NSURLProtectionSpace.h

public final class URLProtectionSpace: NSObject, @unchecked Sendable {
    public var serverTrust: SecTrust? { fatalError() }
}

// From Foundation/NSURLAuthenticationChallenge.h

public final class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public var protectionSpace: URLProtectionSpace { fatalError() }
}

// From Foundation/NSURLSession.h

open class URLSessionTask: NSObject, @unchecked Sendable {
    public var taskIdentifier: Int { fatalError() }
    public func cancel() {}
    public func resume() {}
    public func suspend() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var `default`: URLSessionConfiguration { fatalError() }
    public class var ephemeral: URLSessionConfiguration { fatalError() }
    public var timeoutIntervalForRequest: TimeInterval = 0
    public var timeoutIntervalForResource: TimeInterval = 0
    public var httpShouldSetCookies = false
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy { get { fatalError() } set {} }
    public var httpMaximumConnectionsPerHost = 0
    public var httpCookieStorage: HTTPCookieStorage?
    public var urlCredentialStorage: URLCredentialStorage?
    public var urlCache: URLCache?
}

open class URLSession: NSObject, @unchecked Sendable {
    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    public enum ResponseDisposition: Int, Sendable {
        case cancel, allow, becomeDownload, becomeStream
    }
    public class var shared: URLSession { fatalError() }
    public init(configuration: URLSessionConfiguration) {}
    public init(configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?) {}
    public var delegateQueue: OperationQueue { fatalError() }
    public var delegate: (any URLSessionDelegate)? { fatalError() }
    public func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    public func finishTasksAndInvalidate() {}
    public func invalidateAndCancel() {}
    // From developer.apple.com/documentation/foundation/urlsession/data(from:delegate:) and data(for:delegate:)
    @available(macOS 12.0, iOS 15.0, watchOS 8.0, tvOS 15.0, *)
    public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) { fatalError() }
    @available(macOS 12.0, iOS 15.0, watchOS 8.0, tvOS 15.0, *)
    public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) { fatalError() }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

// All methods of these protocols are optional.

@preconcurrency public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

@preconcurrency public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
}
