// Platforms: iOS, tvOS, visionOS
// swift-format-ignore-file
public import AppleFoundation
public import Dispatch
public import Foundation

// From developer.apple.com/documentation/backgroundtasks/bgtask

@available(iOS 13.0, tvOS 13.0, *)
open class BGTask: NSObject {
    public var identifier: String { fatalError() }
    public var expirationHandler: (() -> Void)?
    public func setTaskCompleted(success: Bool) {}
}

// From developer.apple.com/documentation/backgroundtasks/bgtaskrequest

@available(iOS 13.0, tvOS 13.0, *)
open class BGTaskRequest: NSObject {
    public var identifier: String { fatalError() }
    public var earliestBeginDate: Date?
}

// From developer.apple.com/documentation/backgroundtasks/bgapprefreshtaskrequest

@available(iOS 13.0, tvOS 13.0, *)
open class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) {}
}

// From developer.apple.com/documentation/backgroundtasks/bgtaskscheduler

@available(iOS 13.0, tvOS 13.0, *)
open class BGTaskScheduler: NSObject {
    public class var shared: BGTaskScheduler { fatalError() }
    // It is unavailable in app extensions.
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { fatalError() }
    public func submit(_ taskRequest: BGTaskRequest) throws {}
}

// From developer.apple.com/documentation/backgroundtasks/bgcontinuedprocessingtaskrequest. It is newer than our minimum.

@available(iOS 26.0, *)
open class BGContinuedProcessingTaskRequest: BGTaskRequest {
    public init(identifier: String, title: String, subtitle: String) {}
}
