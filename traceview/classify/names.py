"""What a kernel's name is made of: the function's own name, and the template arguments and parameters behind it.

Invariant: a mangled name is read into the words of its demangled form, in their order; a type that is only referred to
(`S1_`) is left out, and what cannot be read is kept as it is.
"""

from __future__ import annotations

import re

_BUILTIN = (
    "v=void, b=bool, c=char, a=signed char, h=unsigned char, s=short, t=unsigned short, i=int, j=unsigned int, l=long, "
    "m=unsigned long, x=long long, y=unsigned long long, f=float, d=double"
)
BUILTIN = dict(pair.split("=") for pair in _BUILTIN.split(", "))
TOKEN = re.compile(
    r"(\d+)|(L[a-z]n?\d+E)|((?:S[0-9A-Z]*_|S[tabsiod]|T[0-9A-Z]*_|A\d*_|DF\d+[_b]|Dv\d+_|D[a-z]|C[123]|D[012]|[PRKVO])+)"
    r"|(Ul|L_Z|[NIJXZFL])|(E(?:\d*_)?)|(.)",
    re.DOTALL,
)
NUMBER, LITERAL, SKIPPED, OPEN, CLOSE, LETTER = range(1, 7)
"""Groups of `TOKEN`: a length or a value, a literal, what says nothing here, the two ends of a group, a type's code."""
BRACKET = re.compile(r"[<>()]")
ANONYMOUS = "(anonymous namespace)"


def own(name: str) -> str:
    """A demangled name without what stands in its brackets; the brackets stay.

    >>> own("void phi::ReduceKernel<float, phi::AddFunctor<float> >(float const*)")
    'void phi::ReduceKernel<>()'
    >>> own("void (anonymous namespace)::Fill<4>::run(int)")
    'void (anonymous namespace)::Fill<>::run()'
    >>> own("void cut_off<float, at::nat...")
    'void cut_off<>'
    """
    parts: list[str] = []
    depth = start = 0
    for bracket in BRACKET.finditer(name):
        at = bracket.start()
        if bracket[0] in "<(":
            if depth == 0:
                if name.startswith(ANONYMOUS, at) or name.startswith("<unnamed>", at):
                    continue
                parts.append(name[start:at] + ("<>" if bracket[0] == "<" else "()"))
            depth += 1
        elif depth:
            depth -= 1
            start = at + 1
            if depth == 0 and bracket[0] == ")":
                break
    return "".join(parts) + (name[start:] if not depth else "")


def head(name: str) -> str:
    """The function's own name, mangled or not: as `own` without `void`, a mangled one's without brackets.

    >>> head("_ZN5cudnn6detail12dgrad_engineIfLi128EEEviii")
    'cudnn::detail::dgrad_engine'
    """
    return Reading(name, is_head=True).text if name.startswith("_Z") else own(name).removeprefix("void ")


def readable(name: str) -> str:
    """A mangled name (`_Z...`) in the words of its demangled form, without parameters; any other name as it is.

    >>> readable("_Z21kernelPointwiseApply2I6CopyOpIf6__halfEfjLi2EEv10OffsetInfoIT0_E")
    'kernelPointwiseApply2<CopyOp<float, __half>, float, unsigned int, 2>'
    >>> readable("_ZN2at6native12_GLOBAL__N_14fillIL9ggml_type12EEEvT_")
    'at::native::(anonymous namespace)::fill<ggml_type, 12>'
    >>> readable("volta_sgemm_64x64_nn")
    'volta_sgemm_64x64_nn'
    """
    return Reading(name).text if name.startswith("_Z") else name


class Reading:
    """One walk over a mangled name: `text` is what was read, the whole of it or up to the first template argument."""

    def __init__(self, name: str, *, is_head: bool = False) -> None:
        self.parts: list[str] = []
        self.scopes: list[str] = []
        self.after = ""
        """What the last token was: a word, or nothing that a word continues."""
        self.is_named = False
        """The function's name and its template arguments are complete; what follows are parameters."""
        at = 2
        while at < len(name) and not self.is_named:
            token = TOKEN.match(name, at)
            if token is None or (is_head and token[0] == "I"):
                break
            at = token.end() if token.lastindex == SKIPPED else self.take(name, token)
        self.text = "".join(self.parts)

    def take(self, name: str, token: re.Match[str]) -> int:
        """Read one token; returns where the next one starts."""
        kind, text, end = token.lastindex, token[0], token.end()
        if kind == NUMBER:
            if text[0] == "0" or (self.after == "word" and self.scopes and self.scopes[-1] == "L"):
                self.word(text)
            else:
                return self.identifier(name, text, end)
        elif kind == LITERAL:
            self.word(text[2:-1].replace("n", "-"))
        elif kind == OPEN:
            self.enter(text)
        elif kind == CLOSE:
            self.leave()
        elif text in BUILTIN and (not self.scopes or self.scopes[-1] in "IJ"):
            self.word(BUILTIN[text])
        return end

    def identifier(self, name: str, digits: str, start: int) -> int:
        """A length and as many characters."""
        end = start + int(digits)
        text = name[start:end]
        self.word(ANONYMOUS if text.startswith("_GLOBAL__N_") else text)
        return end

    def word(self, text: str) -> None:
        """Add a name, a type or a number, with what separates it from the one before."""
        if not self.scopes and not self.is_named and self.parts:
            self.is_named = True
            return
        if self.parts and self.parts[-1] != "<":
            self.parts.append("::" if self.scopes and self.scopes[-1] == "N" and self.after == "word" else ", ")
        self.parts.append(text)
        self.after = "word"

    def enter(self, text: str) -> None:
        """A nested name, template arguments, or another group that an `E` ends."""
        inside = self.scopes[-1] if self.scopes else ""
        if text == "L" and inside not in ("I", "J", "X"):
            return  # Internal linkage, not a literal.
        if text == "I":
            self.parts.append("<")
        elif text == "N" and not self.scopes and self.parts and not self.is_named:
            self.is_named = True
        self.scopes.append(text)
        self.after = ""

    def leave(self) -> None:
        """The innermost group ends."""
        scope = self.scopes.pop() if self.scopes else ""
        if scope == "I":
            self.parts.append(">")
        self.after = "word" if scope in ("I", "L") else ""
