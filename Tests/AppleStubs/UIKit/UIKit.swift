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
