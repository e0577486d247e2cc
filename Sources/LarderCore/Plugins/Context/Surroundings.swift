import LarderSystem

/// The objects that all parts of one graph share. A section has some of its own.
final class Surroundings: Sendable {
    /// The name of the resource; empty for a section of `_larder.json`.
    let resource: String
    let world: any World
    /// The meter that is in effect.
    let meter: CurrentMeter
    let reloadState: ReloadState
    let data: DataFolder
    /// The folder for payloads that arrive; nil if there is no cache folder.
    let payloadFolder: PayloadFolder?
    /// The source of the data that a store keeps; nil if the policy has no origin.
    let dataSource: DataSource?
    /// The objects that the plugins of the pantry share.
    let shared: SharedObjects
    /// The attachments of the pantry's own sections.
    let attachments: PantryAttachments?
    /// The pantry.
    let owner: PantryReference?

    init(
        resource: String, world: any World, meter: CurrentMeter, reloadState: ReloadState,
        data: DataFolder = DataFolder(nil, beside: ""), payloadFolder: PayloadFolder? = nil,
        dataSource: DataSource? = nil, shared: SharedObjects = SharedObjects(), attachments: PantryAttachments? = nil,
        owner: PantryReference? = nil
    ) {
        self.resource = resource
        self.world = world
        self.meter = meter
        self.reloadState = reloadState
        self.data = data
        self.payloadFolder = payloadFolder
        self.dataSource = dataSource
        self.shared = shared
        self.attachments = attachments
        self.owner = owner
    }

    /// Returns the surroundings of parts that count with another meter or keep another state.
    func with(_ reloadState: ReloadState, meter: CurrentMeter? = nil) -> Surroundings {
        Surroundings(
            resource: resource, world: world, meter: meter ?? self.meter, reloadState: reloadState, data: data,
            payloadFolder: payloadFolder, dataSource: dataSource, shared: shared, attachments: attachments, owner: owner
        )
    }
}
