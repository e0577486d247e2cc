@_exported public import LarderCore
@_exported public import LarderPlugins
