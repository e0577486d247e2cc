"""A C module as Swift imports it, read from the text of `swift-synthesize-interface`."""

import re

start = re.compile(
    r"(?:(?:@\w+|nonisolated)(?:\([^)]*\))? )*public (?:static )?"
    r"(struct|enum|func|var|let|typealias) `?(\w+)`?|extension (\w+)")
word = re.compile(r"[A-Za-z_]\w*")

def declared_names(text):
    return {match[2] or match[3] for match in map(start.match, text.splitlines()) if match}


class Interface:
    def __init__(self, text):
        # The declarations of each name, without comments: functions can be overloaded.
        self.declarations = {}
        text = re.sub(r"/\*(?s:.*?)\*/|(?m:^\s*//.*$)", "", text)
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        at = 0
        while at < len(lines):
            match, begin = start.match(lines[at]), at
            depth = lines[at].count("{") - lines[at].count("}")
            at += 1
            while depth > 0:
                depth += lines[at].count("{") - lines[at].count("}")
                at += 1
            if match:
                texts = self.declarations.setdefault(match[2] or match[3], [])
                declaration = "\n".join(lines[begin:at])
                if declaration not in texts:
                    texts.append(declaration)

    def kinds(self, name):
        return {start.match(text)[1] or "extension" for text in self.declarations[name]}

    def closure(self, names):
        """Returns these names, as far as they are declared, with those that their declarations name."""
        names, found = list(names), set()
        while names:
            name = names.pop()
            if name in found or name not in self.declarations:
                continue
            found.add(name)
            for text in self.declarations[name]:
                names += self.types(text)
        return found

    @staticmethod
    def types(text):
        """Returns the names of types in a declaration."""
        text = re.sub(r'//.*|cType: "[^"]*"|@available\([^)]*\)', "", text)
        return {name for part in re.findall(r"(?::|->|=|[(,<])\s*([^{}]*)", text) for name in word.findall(part)}

    def resolved(self, name):
        """Returns the lines of a name's declarations, with Swift's types in place of C's names for them."""
        lines = set()
        for text in self.declarations.get(name, []):
            for line in text.splitlines():
                if " init(" in line or line.strip() == "}":
                    continue
                if " func " in line:
                    # Names of parameters and missing annotations of nullability make no difference to a call.
                    line = re.sub(r"([(,]) ?(?:\w+ )?\w+:", r"\1_:", line).replace("!", "")
                lines.add(word.sub(lambda match: self.type(match[0], name), line).strip())
        return lines

    def type(self, name, *seen):
        texts = self.declarations.get(name, [])
        alias = re.fullmatch(r"(?:@.*\) )?public typealias \w+ = (.*)", texts[0]) if len(texts) == 1 else None
        if not alias or name in seen:
            return name
        return word.sub(lambda match: self.type(match[0], name, *seen), alias[1])

    def stub(self, names, kinds):
        """Returns Swift source that declares these names, as far as they are of these kinds."""
        lines = [line for name in sorted(names) for line in self.sources(name, kinds)]
        if "func" in kinds:
            lines.insert(0, "public import DarwinTypes\n")
        head = ["// swift-format-ignore-file", "// Made from Apple's C headers by `Tests/darwin-headers --write`."]
        return "\n".join([*head, *lines, ""])

    def sources(self, name, kinds):
        for text in self.declarations[name]:
            if start.match(text)[1] not in kinds:
                continue
            text = re.sub(r' cType: "[^"]*"|, cType: "[^"]*"', "", text)
            # A function pointer of C cannot have structures of Swift.
            text = re.sub(
                r"@convention\(c\) \(([^()]*)\) -> (\w+\??)",
                lambda match: match[0] if self.is_simple(match[1] + " " + match[2]) else "OpaquePointer", text)
            text = re.sub(r"^((?:@.*\) )?)public struct", r"\1@frozen public struct", text)
            text = re.sub(r"^( *(?:@[^\n]*\) )?public (?:static )?(?:var|let) [^\n]*?) \{ get \}$",
                          r"\1 { fatalError() }", text, flags=re.M)
            text = re.sub(r"^(?:nonisolated\(unsafe\) )?public var ([^\n{]*)$",
                          r"public var \1 { get { fatalError() } set {} }", text)
            text = re.sub(r"^public let ([^\n{]*)$", r"public var \1 { fatalError() }", text)
            text = re.sub(r"^( +public init[^\n]*)$", r"\1 { fatalError() }", text, flags=re.M)
            text = re.sub(r"^((?:@.*\) )?)(public func [^\n]*)$",
                          lambda match: match[1] + "@discardableResult " * bool(re.search("-> (?!Never)", match[2]))
                          + match[2] + " { fatalError() }", text)
            yield text

    def is_simple(self, types):
        names = set(word.findall(self.resolved_types(types))) & set(self.declarations)
        return not any("struct" in self.kinds(name) for name in names)

    def resolved_types(self, types):
        return word.sub(lambda match: self.type(match[0]), types)
