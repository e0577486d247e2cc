extension ModulePlugin {
    /// The plugins of the modules that build on Larder. A policy that names one of them without its module gets an error
    /// that names the module.
    public static let known: [ModulePlugin] = [
        ModulePlugin(.section, "records", in: "LarderSync"),
        ModulePlugin(.section, "outbox", in: "LarderSync"),
        ModulePlugin(.section, "media", in: "LarderMedia"),
        ModulePlugin(.store, "redis", in: "LarderRedis"),
    ]
}
