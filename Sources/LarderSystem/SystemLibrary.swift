import LarderFoundation

/// A library of the system that is looked up at run time. Building needs neither the library nor its headers, and a
/// machine without it gets an error that names the package to install.
///
/// Functions of the library may be called as long as this object lives.
///
/// `@unchecked Sendable`: the pointer never changes, and the system's functions that take it may be called from any
/// thread.
public final class SystemLibrary: @unchecked Sendable {
    /// The reason why a library cannot be used.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The reason, with the package that helps: `libcurl is missing: install the package libcurl4`.
        public let description: String

        /// Creates a failure.
        public init(_ description: String) {
            self.description = description
        }
    }

    private let library: UnsafeMutableRawPointer
    private let name: String

    /// Loads a library.
    ///
    /// - Parameters:
    ///   - name: the name in errors, such as `libcurl`.
    ///   - files: the names of the file that has the library. The first one that the system finds is used.
    ///   - package: the package that a user can install to get the library.
    ///   - staysLoaded: whether the library stays in memory until the process ends. Libraries with threads or state of
    ///     their own need that.
    /// - Throws: ``Failure`` if there is none of the files.
    public init(
        _ name: String, files: [String], package: String, staysLoaded: Bool = false
    ) throws(Failure) {
        self.name = name
        let mode = RTLD_NOW | RTLD_LOCAL | (staysLoaded ? RTLD_NODELETE : 0)
        for file in files {
            if let library = dlopen(file, mode) {
                self.library = library
                return
            }
        }
        throw Failure("\(name) is missing: install the package \(package)")
    }

    deinit {
        dlclose(library)
    }

    /// Returns the address of a function.
    ///
    /// - Throws: ``Failure`` if the library has no function of this name.
    public func address(of function: String) throws(Failure) -> UnsafeMutableRawPointer {
        guard let address = dlsym(library, function) else { throw Failure("\(name) has no function \(function)") }
        return address
    }

    /// Returns a function. `type` must be its type, as a `@convention(c)` type.
    ///
    /// - Throws: ``Failure`` if the library has no function of this name.
    public func function<Function>(_ function: String, as type: Function.Type = Function.self) throws(Failure)
        -> Function
    {
        let address = try address(of: function)
        guard MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size else {
            throw Failure("\(name): \(function) was asked for as something other than a function of C")
        }
        return unsafeBitCast(address, to: type)
    }
}
