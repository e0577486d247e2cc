// swift-format-ignore-file
@_exported public import AppleFoundation
@_exported public import Combine
@_exported public import Observation
#if canImport(UIKit)
    @_exported public import UIKit
#endif

// From developer.apple.com/documentation/swiftui/view

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension Never: View {
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/viewbuilder

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> { fatalError() }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> { fatalError() }
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/tupleview

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct TupleView<T>: View {
    public var body: Never { fatalError() }
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct _ConditionalContent<TrueContent: View, FalseContent: View>: View {
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/emptyview

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct EmptyView: View {
    nonisolated public init() {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/text

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct Text: View {
    nonisolated public init(_ key: LocalizedStringKey) {}
    nonisolated public init<S: StringProtocol>(_ content: S) {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/localizedstringkey

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct LocalizedStringKey: ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) {}
}

// From developer.apple.com/documentation/swiftui/progressview

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
public struct ProgressView: View {
    nonisolated public init() {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/hstack

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct HStack<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/foreach

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/list

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct List<SelectionValue: Hashable, Content: View>: View {
    nonisolated public init<Data: RandomAccessCollection, RowContent: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> RowContent
    ) where Data.Element: Identifiable, Content == ForEach<Data, Data.Element.ID, RowContent>, SelectionValue == Never {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/verticaledge

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen public enum VerticalEdge: Int8, Sendable {
    case top
    case bottom
}

// From developer.apple.com/documentation/swiftui/view/overlay(alignment:content:) and its neighbours, without the
// alignments, spacings and priorities that have defaults.

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension View {
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    nonisolated public func overlay<V: View>(@ViewBuilder content: () -> V) -> some View { EmptyView() }
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    nonisolated public func safeAreaInset<V: View>(edge: VerticalEdge, @ViewBuilder content: () -> V) -> some View { EmptyView() }
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    nonisolated public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
}

// From developer.apple.com/documentation/swiftui/state

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen @propertyWrapper public struct State<Value> {
    public init(initialValue value: Value) { fatalError() }
    public init(wrappedValue value: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension State where Value: ExpressibleByNilLiteral {
    public init() { fatalError() }
}

// From developer.apple.com/documentation/swiftui/environment, and its neighbours environmentvalues and scenephase

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen @propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct EnvironmentValues: Sendable {
    @available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
    public var scenePhase: ScenePhase { fatalError() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
public enum ScenePhase: Comparable, Sendable {
    case background
    case inactive
    case active
}

// From developer.apple.com/documentation/swiftui/app, and its neighbours scene, scenebuilder and windowgroup

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
@resultBuilder public struct SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

/// The body of the stubs' scenes.
@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
public struct _NoScene: Scene {
    nonisolated public init() {}
    public var body: _NoScene { return self }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
public struct WindowGroup<Content: View>: Scene {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
    public var body: _NoScene { return _NoScene() }
}

@available(macOS 11.0, iOS 14.0, tvOS 14.0, watchOS 7.0, *)
extension Scene {
    @available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, *)
    nonisolated public func onChange<V: Equatable>(of value: V, initial: Bool = false, _ action: @escaping () -> Void) -> some Scene { _NoScene() }
}

// From developer.apple.com/documentation/swiftui/font

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen public struct Font: Hashable, Sendable {
    public static let footnote = Font()
}

// From developer.apple.com/documentation/swiftui/color

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen public struct Color: View, Sendable {
    public static let secondary = Color()
    public func opacity(_ opacity: Double) -> Color { self }
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/image

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen public struct Image: View, Sendable {
    @available(macOS 11.0, *)
    public init(systemName: String) {}
    #if canImport(UIKit)
        public init(uiImage: UIImage) {}
    #endif
    public func resizable() -> Image { self }
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/zstack

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
@frozen public struct ZStack<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}

// From developer.apple.com/documentation/swiftui/view/frame(width:height:alignment:) and its neighbours, without the
// alignments, priorities and styles that have defaults.

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension View {
    nonisolated public func font(_ font: Font?) -> some View { EmptyView() }
    nonisolated public func frame(width: CGFloat? = nil, height: CGFloat? = nil) -> some View { EmptyView() }
    nonisolated public func scaledToFill() -> some View { EmptyView() }
    nonisolated public func opacity(_ opacity: Double) -> some View { EmptyView() }
    nonisolated public func clipped() -> some View { EmptyView() }
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    nonisolated public func task<T: Equatable>(id value: T, @_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { EmptyView() }
}
