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
        .library(name: "LarderSystem", targets: ["LarderSystem"]),
        .library(name: "LarderSimulation", targets: ["LarderSimulation"]),
        .library(name: "LarderReports", targets: ["LarderReports"]),
        .library(name: "LarderStories", targets: ["LarderStories"]),
        .library(name: "LarderEditions", targets: ["LarderEditions"]),
        .library(name: "LarderSync", targets: ["LarderSync"]),
        .library(name: "LarderCommand", targets: ["LarderCommand"]),
        .executable(name: "larder", targets: ["LarderTool"]),
        .executable(name: "larder-bench", targets: ["LarderBench"]),
    ],
    targets: [
        // Calls of C functions that Swift cannot make. It has only a header and no library.
        .systemLibrary(name: "CLarder"),
        // Foundation and the C library under one name on all platforms.
        .target(name: "LarderFoundation", swiftSettings: settings),
        .target(name: "LarderSystem", dependencies: ["CLarder", "LarderFoundation"], swiftSettings: settings),
        .target(name: "LarderCore", dependencies: ["LarderSystem", "LarderFoundation"], swiftSettings: settings),
        // The standard plugins see of LarderCore what your plugin sees.
        .target(
            name: "LarderPlugins", dependencies: ["CLarder", "LarderSystem", "LarderCore", "LarderFoundation"],
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "Larder", dependencies: ["LarderCore", "LarderFoundation", "LarderPlugins", "LarderSystem"],
            swiftSettings: settings),
        .target(
            name: "LarderSimulation", dependencies: ["Larder", "LarderSync", "LarderSystem", "LarderFoundation"],
            swiftSettings: settings),
        .target(
            name: "LarderReports", dependencies: ["Larder", "LarderSystem", "LarderFoundation"],
            swiftSettings: settings),
        .target(
            name: "LarderStories",
            dependencies: ["Larder", "LarderSystem", "LarderFoundation", "LarderSimulation", "LarderSync"],
            swiftSettings: settings),
        // Policies over the network. It sees what your module sees.
        .target(
            name: "LarderEditions", dependencies: ["Larder", "LarderSystem", "LarderFoundation"], packageAccess: false,
            swiftSettings: settings),
        // Records that are changed offline. It sees what your module sees.
        .target(
            name: "LarderSync", dependencies: ["Larder", "LarderSystem", "LarderFoundation"], packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "LarderCommand",
            dependencies: [
                "Larder", "LarderEditions", "LarderSystem", "LarderFoundation", "LarderReports", "LarderSimulation",
                "LarderStories", "LarderSync",
            ],
            swiftSettings: settings),
        .executableTarget(name: "LarderTool", dependencies: ["LarderCommand"], swiftSettings: settings),
        .executableTarget(
            name: "LarderBench",
            dependencies: [
                "CLarder", "Larder", "LarderSystem", "LarderFoundation", "LarderSimulation", "LarderStories",
                "LarderSync",
            ],
            swiftSettings: settings),
        // The app to which `Tests/channel` ships editions; no product.
        .executableTarget(
            name: "ChannelRun", dependencies: ["Larder", "LarderEditions", "LarderFoundation"],
            path: "Tests/ChannelRun", packageAccess: false, swiftSettings: settings),
        // The process that `Tests/clearing` kills; no product.
        .executableTarget(
            name: "ClearingRun", dependencies: ["Larder", "LarderFoundation"], path: "Tests/ClearingRun",
            swiftSettings: settings),
        // Plays scenarios of how any cache should behave; no product.
        .executableTarget(
            name: "ConformRun",
            dependencies: [
                "Larder", "LarderSystem", "LarderCommand", "LarderFoundation", "LarderSimulation", "LarderStories",
                "LarderSync",
            ],
            path: "Tests/ConformRun", swiftSettings: settings),
        // The made-up fleets of `Tests/fleet`; no product.
        .executableTarget(
            name: "FleetRun",
            dependencies: ["Larder", "LarderSystem", "LarderCommand", "LarderFoundation", "LarderSimulation"],
            path: "Tests/FleetRun", swiftSettings: settings),
        // The process that `Tests/large-answers` measures and kills; no product.
        .executableTarget(
            name: "LargeAnswerRun", dependencies: ["Larder", "LarderFoundation"], path: "Tests/LargeAnswerRun",
            packageAccess: false,
            swiftSettings: settings),
        // The process in which `Tests/locks` looks for objects that are used after their end; no product.
        .executableTarget(
            name: "LockRun", dependencies: ["Larder", "LarderSystem", "LarderFoundation", "LarderPlugins"],
            path: "Tests/LockRun",
            swiftSettings: settings),
        // The process under which `Tests/network` changes the network; no product.
        .executableTarget(
            name: "NetworkRun", dependencies: ["Larder", "LarderFoundation"], path: "Tests/NetworkRun",
            swiftSettings: settings),
        // Brute force against proofs, which `Tests/proofs` runs; no product.
        .executableTarget(
            name: "ProofRun",
            dependencies: [
                "Larder", "LarderSystem", "LarderCommand", "LarderFoundation", "LarderSimulation", "LarderStories",
            ],
            path: "Tests/ProofRun", swiftSettings: settings),
        // The process that `Tests/store-crashes` kills; no product.
        .executableTarget(
            name: "StoreRun", dependencies: ["Larder", "LarderFoundation"], path: "Tests/StoreRun",
            swiftSettings: settings),
        // The process that `Tests/sync-crashes` kills; no product.
        .executableTarget(
            name: "SyncRun", dependencies: ["Larder", "LarderSync", "LarderSystem", "LarderFoundation"],
            path: "Tests/SyncRun", swiftSettings: settings),
        .testTarget(
            name: "LarderTests",
            dependencies: [
                "Larder", "LarderSystem", "LarderCommand", "LarderFoundation", "LarderSimulation", "LarderStories",
            ],
            swiftSettings: settings),
        // An app whose types belong to the main actor unless they say otherwise, as in a new Xcode project.
        .testTarget(
            name: "MainActorTests", dependencies: ["Larder", "LarderSimulation"], packageAccess: false,
            swiftSettings: settings + [
                .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
            ]),
        // These tests see only public declarations, as another package does.
        .testTarget(
            name: "ThirdPartyTests",
            dependencies: [
                "Larder", "LarderFoundation", "LarderReports", "LarderSimulation", "LarderStories", "LarderSync",
            ],
            packageAccess: false,
            swiftSettings: settings),
        .testTarget(
            name: "LarderEditionsTests",
            dependencies: ["Larder", "LarderEditions", "LarderSystem", "LarderFoundation", "LarderSimulation"],
            swiftSettings: settings),
        .testTarget(
            name: "LarderSyncTests",
            dependencies: ["Larder", "LarderSync", "LarderSystem", "LarderFoundation", "LarderSimulation"],
            swiftSettings: settings),
        .testTarget(
            name: "LarderCommandTests",
            dependencies: [
                "ConformRun", "FleetRun", "LarderSystem", "LarderCommand", "LarderEditions", "LarderFoundation",
                "LarderReports", "LarderSimulation", "LarderStories", "LarderSync",
            ],
            exclude: ["Corpus", "Fixtures"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
