// Types of Core Foundation that are bridged to classes of Foundation: here they are these classes.
// From developer.apple.com/documentation/corefoundation
// swift-format-ignore-file
public import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFData = NSData
public typealias CFArray = NSArray
public typealias CFError = NSError
public final class CFAllocator {}
