// Platforms: iOS, tvOS, watchOS, visionOS
// swift-format-ignore-file
@_exported public import AppleFoundation
public import Foundation

#if !os(watchOS)
    // From developer.apple.com/documentation/uikit/uiresponder

    @MainActor open class UIResponder: NSObject {}

    // From developer.apple.com/documentation/uikit/uiviewcontroller

    @MainActor open class UIViewController: UIResponder {
        open var title: String?
        open func viewWillAppear(_ animated: Bool) {}
        open func viewDidDisappear(_ animated: Bool) {}
    }

    // From developer.apple.com/documentation/uikit/uitableview

    @MainActor open class UITableView: UIResponder {
        open func reloadData() {}
    }

    // From developer.apple.com/documentation/uikit/uitableviewcontroller

    @MainActor open class UITableViewController: UIViewController {
        open var tableView: UITableView!
    }
#endif

// From developer.apple.com/documentation/coregraphics/cgimage, which UIKit passes on

@available(iOS 2.0, tvOS 9.0, watchOS 2.0, *)
public final class CGImage: @unchecked Sendable {
    public var bytesPerRow: Int { fatalError() }
    public var height: Int { fatalError() }
}

// From developer.apple.com/documentation/uikit/uiimage

@available(iOS 2.0, tvOS 9.0, watchOS 2.0, *)
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { fatalError() }
    open var cgImage: CGImage? { fatalError() }
    @available(iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    open func preparingForDisplay() -> UIImage? { fatalError() }
}
