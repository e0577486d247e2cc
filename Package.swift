// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "larder",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Larder", targets: ["Larder"]),
        .library(name: "LarderSimulation", targets: ["LarderSimulation"]),
        .library(name: "LarderCommand", targets: ["LarderCommand"]),
        .executable(name: "larder", targets: ["LarderTool"]),
        .executable(name: "larder-bench", targets: ["LarderBench"]),
    ],
    targets: [
        .target(name: "Larder", swiftSettings: settings),
        .target(name: "LarderSimulation", dependencies: ["Larder"], swiftSettings: settings),
        .target(name: "LarderCommand", dependencies: ["Larder", "LarderSimulation"], swiftSettings: settings),
        .executableTarget(name: "LarderTool", dependencies: ["LarderCommand"], swiftSettings: settings),
        .executableTarget(
            name: "LarderBench", dependencies: ["Larder", "LarderSimulation"], swiftSettings: settings),
        // What `Tests/clearing` kills; no product.
        .executableTarget(
            name: "ClearingRun", dependencies: ["Larder"], path: "Tests/ClearingRun", swiftSettings: settings),
        .testTarget(
            name: "LarderTests", dependencies: ["Larder", "LarderSimulation"], swiftSettings: settings),
        // What these tests may see is what another package sees: public declarations and nothing else.
        .testTarget(
            name: "ThirdPartyTests", dependencies: ["Larder", "LarderSimulation"], packageAccess: false,
            swiftSettings: settings),
        .testTarget(
            name: "LarderCommandTests", dependencies: ["LarderCommand", "LarderSimulation"],
            exclude: ["Corpus", "Fixtures"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
