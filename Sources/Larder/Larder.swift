@_exported public import LarderCore
@_exported public import LarderPlugins
// An app needs the world and its time, and not the disks and locks of the same module.
@_exported public import struct LarderSystem.Alarm
@_exported public import enum LarderSystem.FolderChange
@_exported public import class LarderSystem.HeldSignal
@_exported public import class LarderSystem.ManualNetwork
@_exported public import class LarderSystem.ManualPower
@_exported public import enum LarderSystem.NetworkCondition
@_exported public import protocol LarderSystem.NetworkSource
@_exported public import struct LarderSystem.NetworkState
@_exported public import protocol LarderSystem.PowerSource
@_exported public import class LarderSystem.Subscription
@_exported public import struct LarderSystem.SystemNetwork
@_exported public import struct LarderSystem.SystemPower
@_exported public import struct LarderSystem.SystemWorld
@_exported public import struct LarderSystem.Timestamp
@_exported public import protocol LarderSystem.World
