"""A C file that asserts that Apple's headers declare what the stub declares, with the same types and sizes."""

import itertools
import pathlib
import re

own_header = pathlib.Path(__file__).resolve().parents[2] / "Sources/CLarder/CLarder.h"

targets = {
    "macOS": "arm64-apple-macos15.0", "macOS on Intel": "x86_64-apple-macos15.0", "iOS": "arm64-apple-ios18.0",
    "tvOS": "arm64-apple-tvos18.0", "watchOS": "arm64_32-apple-watchos11.0", "visionOS": "arm64-apple-xros2.0",
}
# The types of C that Swift imports as these: `Int` is also `size_t`.
plain = {
    "Int8": ["signed char", "char"], "CChar": ["char"], "UInt8": ["unsigned char"], "Int16": ["short"],
    "UInt16": ["unsigned short"], "Int32": ["int"], "UInt32": ["unsigned int"], "Int64": ["long long"],
    "UInt64": ["unsigned long long"], "Int": ["long", "unsigned long"], "UInt": ["unsigned long"],
    "Float": ["float"], "Double": ["double"], "Bool": ["_Bool"], "Void": ["void"], "Never": ["void"],
    "CVaListPointer": ["va_list"], "UnsafeRawPointer": ["const void *"], "UnsafeMutableRawPointer": ["void *"],
}


class Unknown(Exception):
    """A type of Swift whose type in C cannot be told."""


def split(text, separator=","):
    """Splits at separators outside parentheses and angle brackets."""
    parts, depth, begin = [], 0, 0
    text = text.replace("->", "\0")
    for index, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == separator and depth == 0:
            parts.append(text[begin:index])
            begin = index + 1
    return [part.strip().replace("\0", "->") for part in [*parts, text[begin:]] if part.strip()]


class Writer:
    def __init__(self, interface, tags):
        self.interface, self.tags = interface, tags
        self.lines = []

    def types(self, swift):
        """Returns the types of C that a type of Swift can stand for, as functions of a declared name."""
        swift = re.sub(r"^\((.*)\)[!?]*$", r"\1", swift) if "@convention" in swift else swift
        swift = swift.rstrip("!?").strip()
        pointer = re.fullmatch(r"(?:Autoreleasing)?Unsafe(Mutable)?Pointer<(.*)>", swift)
        if pointer:
            constant = "" if pointer[1] else "const "
            return [lambda name, type=type: constant + type(f"*{name}") for type in self.types(pointer[2])]
        function = re.fullmatch(r"@convention\(c\) \((.*)\) -> (.*)", re.sub(r', cType: "[^"]*"', "", swift))
        if function:
            return self.functions(split(function[1]), function[2], "(*{})")
        if swift.startswith("("):
            parts = split(swift[1:-1])
            return [lambda name, type=type: type(f"{name}[{len(parts)}]") for type in self.types(parts[0])]
        if swift in plain:
            return [lambda name, type=type: f"{type} {name}" for type in plain[swift]]
        if not re.fullmatch(r"\w+", swift) or swift == "OpaquePointer":
            raise Unknown(swift)
        return [lambda name: f"{self.tags.get(swift, swift)} {name}"]

    def functions(self, parameters, result, form):
        return [
            lambda name, parts=parts: parts[0](
                form.format(name) + "(" + (", ".join(part("") for part in parts[1:]) or "void") + ")")
            for parts in itertools.product(self.types(result), *map(self.types, parameters))
        ]

    def add(self, name, condition, what):
        self.lines.append((name, f'_Static_assert({condition}, "{what}");'))

    def compare(self, name, value, types, what):
        same = " || ".join(f"__builtin_types_compatible_p({value}, {type('')})" for type in types)
        self.add(name, same, what)

    def declaration(self, name, text):
        text = re.sub(r"^(?:(?:@\w+|nonisolated)(?:\([^)]*\))? )+", "", text)
        alias = re.match(r"public typealias \w+ = (.*)", text)
        function = re.match(r"public func \w+\((.*)\)(?: -> (.*))?$", text)
        variable = re.match(r"public (?:var|let) \w+: (.*?)(?: \{ get \})?$", text)
        if alias:
            self.compare(name, name, self.types(alias[1]), f"{name} is {alias[1]}")
        elif function:
            parameters = [parameter.split(":", 1)[1].strip() for parameter in split(function[1])]
            types = self.functions(parameters, function[2] or "Void", "{}")
            self.compare(name, f"__typeof__({name})", types, f"{name} is a function {text.split(name, 1)[1]}")
        elif variable:
            value = f"__typeof__(({name}) + 0)" if variable[1] in plain else f"__typeof__({name})"
            if variable[1] == "String":
                self.add(name, f'sizeof({name} "")', f"{name} is a text")
            elif "RawRepresentable" in "".join(self.interface.declarations.get(variable[1], [])):
                self.add(name, f"sizeof({name}) == sizeof({variable[1]})", f"{name} is a constant of {variable[1]}")
            else:
                self.compare(name, value, self.types(variable[1]), f"{name} is {variable[1]}")
        elif text.startswith("public struct"):
            self.structure(name, text)

    def structure(self, name, text):
        type = self.tags.get(name, name)
        if "RawRepresentable" in text:
            raw = re.search(r"rawValue: (\w+)", text)[1]
            return self.add(name, f"sizeof({type}) == sizeof({self.types(raw)[0]('')})", f"{name} is like {raw}")
        self.add(name, f"sizeof({type}) > 0", f"{name} is a structure")
        for field, swift in re.findall(r"^    public var `?(\w+)`?: (.*)$", text, flags=re.M):
            if "Unnamed" in swift or "Anonymous" in field or "{" in swift:
                continue
            value = f"__typeof__((({type} *)0)->{field})"
            try:
                # Its size is that of a few pointers.
                if field == "__opaque":
                    raise Unknown(swift)
                self.compare(name, value, self.types(swift), f"{name}.{field} is {swift}")
            except Unknown:
                self.add(name, f"sizeof({value}) > 0", f"{name}.{field}")


def check(sdk, interface, names):
    """Returns the number of assertions for each platform, and what is wrong: names with messages."""
    source = sdk.folder / "all.c"
    source.write_text('#include "all.h"\n')
    counts, wrong = {}, []
    for platform, target in targets.items():
        text = sdk.preprocess(target, source)
        tags = {name: f"{kind} {name}" for kind, name in re.findall(r"\b(struct|union)\s+(\w+)\s*\{", text)}
        writer = Writer(interface, tags)
        for name in sorted(names):
            for declaration in interface.declarations[name]:
                try:
                    writer.declaration(name, declaration)
                except Unknown:
                    writer.lines.append((name, f"typedef __typeof__({name}) larder_{name};"))
        file = sdk.folder / "assertions.c"
        lines = ['#include "all.h"', *(line for _, line in writer.lines), f'#include "{own_header}"', ""]
        file.write_text("\n".join(lines))
        counts[platform] = len(writer.lines)
        errors = sdk.compile(target, file)
        wrong += [("", f"{platform}: {line}") for line in re.findall(r".*\.h:\d+:\d+: error: .*", errors)]
        for number, message in re.findall(r"assertions\.c:(\d+):\d+: error: (.*)", errors):
            name, line = writer.lines[int(number) - 2]
            message = re.sub(r"static assertion failed due to requirement.*", line, message)
            wrong.append((name, f"{platform}: {message}"))
    return counts, wrong


# Declarations as Linux has them, or as nobody has them. The assertions must find each of them to be wrong.
mistakes = {
    "mode_t": "public typealias mode_t = UInt32",
    "sa_family_t": "public typealias sa_family_t = UInt16",
    "nlink_t": "public typealias nlink_t = UInt",
    "F_FULLFSYNC": "public var F_FULLFSYNC: Int { get }",
    "SOCK_STREAM": "public var SOCK_STREAM: UInt32 { get }",
    "stat": "public struct stat {\n    public var st_mtim: timespec\n}",
    "flock": "public struct flock {\n    public var l_type: Int32\n}",
    "fsync": "public func fsync(_: Int32, _: Int32) -> Int32",
    "chmod": "public func chmod(_: UnsafePointer<CChar>!, _: UInt32) -> Int32",
    "readdir": "public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafePointer<dirent>!",
    "epoll_create1": "public func epoll_create1(_: Int32) -> Int32",
    "system": "public func system(_: UnsafePointer<CChar>!) -> Int32",
}


def overlooked(sdk, interface):
    """Returns the mistakes that the assertions do not find on iOS."""
    declarations = {**interface.declarations, **{name: [text] for name, text in mistakes.items()}}
    text = "\n".join(text for texts in declarations.values() for text in texts)
    _, wrong = check(sdk, type(interface)(text), mistakes)
    found = {name for name, message in wrong if message.startswith("iOS")}
    return [name for name in mistakes if name not in found]
