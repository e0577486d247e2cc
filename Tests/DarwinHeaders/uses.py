"""The names in Larder's Swift sources, as they are compiled for Apple's platforms."""

import collections
import re

# Conditions that differ between Linux and Apple's platforms.
known = {"Glibc": False, "Musl": False, "FoundationNetworking": False, "FoundationEssentials": False, "WinSDK": False}
systems = {"Linux", "Android", "Windows", "FreeBSD", "WASI"}

comment = re.compile(r"//[^\n]*|/\*(?s:.*?)\*/")
string = re.compile(r'"""(?s:.*?)"""|"(?:\\\([^()]*(?:\([^()]*\)[^()]*)*\)|\\.|[^"\\\n])*"')
interpolation = re.compile(r"\\\(([^\n]*?)\)")
# Members follow a dot, except those of a module. Labels precede a colon, except constants in a `case`.
name = re.compile(r"(?:(?<![\w`.])|(?<=\bDarwin\.))`?([A-Za-z_]\w*)`?(:?)")


def code(text):
    """Returns Swift code without comments, and of its strings only what they interpolate."""
    def replaced(match):
        if match[0].startswith("/"):
            return "\n" * match[0].count("\n")
        return "\n".join(" ".join(interpolation.findall(line)) for line in match[0].split("\n"))

    return re.sub(f"(?:{comment.pattern})|(?:{string.pattern})", replaced, text)


def holds(condition):
    condition = re.sub(r"canImport\((\w+)\)", lambda match: str(known.get(match[1], True)), condition)
    condition = re.sub(r"\bos\((\w+)\)", lambda match: str(match[1] not in systems), condition)
    condition = re.sub(r"(?:swift|compiler|arch|targetEnvironment|hasFeature)\([^)]*\)", "True", condition)
    condition = condition.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    condition = re.sub(r"\b(?!True|False|and|or|not)[A-Za-z_]\w*", lambda match: str(match[0] == "DEBUG"), condition)
    return eval(condition, {"__builtins__": {}})


def apple_lines(text):
    """Yields the lines that Apple's platforms compile, with their numbers."""
    # Each level: whether it is compiled, and whether a branch of it was.
    levels = []
    for number, line in enumerate(text.splitlines(), 1):
        directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if not directive:
            if all(compiled for compiled, _ in levels):
                yield number, line
            continue
        kind, condition = directive[1], directive[2].split("//")[0]
        if kind == "if":
            value = holds(condition)
            levels.append((value, value))
        elif kind == "endif":
            levels.pop()
        else:
            done = levels.pop()[1]
            value = not done and (kind == "else" or holds(condition))
            levels.append((value, done or value))


def places(root):
    """Returns the places of each name that may be one of the C library's."""
    found = collections.defaultdict(list)
    for file in sorted([*root.glob("Sources/**/*.swift"), *root.glob("Tests/*Tests/**/*.swift")]):
        for number, line in apple_lines(code(file.read_text())):
            for match in name.finditer(line):
                if not match[2] or match[1] == match[1].upper():
                    found[match[1]].append(f"{file.relative_to(root)}:{number}")
    return found
