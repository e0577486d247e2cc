"""The declarations of the stub modules, each with the document from which its signature was taken."""

import re

declaration = re.compile(
    r"( *)(?:@[\w.]+(?:\([^)]*\))? )*(?:(?:public|open|final|static|class|nonisolated|nonisolated\(unsafe\)|override|"
    r"convenience|required|indirect|mutating|prefix|infix) )*"
    r"(struct|class|enum|protocol|actor|extension|func|var|let|init|case|typealias|subscript|associatedtype)\b\s*"
    r"([^\s({:<=]*)")


def all(stubs):
    """Yields module, declaration and document. A comment `// From …` names the document of what follows it."""
    for file in sorted(stubs.glob("*/*.swift")):
        text, document, scopes = file.read_text(), None, []
        made = re.search(r"^// Made from (.*?)(?: by .*)?$", text, flags=re.M)
        for line in text.splitlines():
            comment = re.match(r"\s*// From ([^\s,]+)", line)
            document = comment[1].rstrip('.') if comment else made[1] if made else document
            match = declaration.match(line)
            if not match or "import " in line.split("//")[0]:
                continue
            depth, kind, name = len(match[1]) // 4, match[2], match[3] or match[2]
            scopes[depth:] = [name]
            # Conformances and members of an extension count, and the extension does not.
            if kind != "extension":
                yield file.parent.name, ".".join(scopes), document
