// System calls under names of their own, for types that have methods with the names of these calls.

/// Calls `read`.
package func systemRead(_ file: Int32, into buffer: UnsafeMutableRawPointer?, count: Int) -> Int {
    read(file, buffer, count)
}

/// Calls `write`.
package func systemWrite(_ file: Int32, from buffer: UnsafeRawPointer?, count: Int) -> Int {
    write(file, buffer, count)
}
