"""Names, operands and addresses of PTX as expressions of C++."""
import re


class Unknown(Exception):
    """What the translator does not know: an error, and no guess."""


def name_of(word):
    """An identifier of C++ for a name or register of PTX."""
    return "r_" + re.sub(r"[^A-Za-z0-9_]", "_", word)


def special(word):
    found = re.fullmatch(r"%(ctaid|tid|nctaid|ntid)\.([xyz])", word)
    if not found:
        return None
    field = {"ctaid": "block", "tid": "thread", "nctaid": "blocks", "ntid": "threads"}[found[1]]
    return f"place.{field}[{'xyz'.index(found[2])}]"


def operand(word, kind):
    """A source operand as an expression of type `kind`."""
    if special(word):
        return f"in<{kind}>({special(word)})"
    if word.startswith("%"):
        return f"in<{kind}>({name_of(word)})"
    if re.fullmatch(r"0f[0-9A-Fa-f]{8}", word):
        return f"in<{kind}>(std::bit_cast<f32>(0x{word[2:]}u))"
    if re.fullmatch(r"0d[0-9A-Fa-f]{16}", word):
        return f"in<{kind}>(std::bit_cast<f64>(u64(0x{word[2:]}ull)))"
    if re.fullmatch(r"-?(\d+|0x[0-9A-Fa-f]+)U?", word):
        number = word.rstrip("U")
        if number == str(-2**63):
            return f"{kind}(1ull << 63)"
        return f"{kind}({number}{'' if number.startswith('-') else 'u'}ll)"
    if re.fullmatch(r"[A-Za-z_$][\w$]*", word):
        return f"in<{kind}>(reinterpret_cast<u64>({name_of(word)}))"
    raise Unknown(f"operand {word}")


def address(word):
    """[%rd1+8] as an expression."""
    found = re.fullmatch(r"\[([^\]+]+)(?:\+(-?\d+))?\]", word)
    if not found:
        raise Unknown(f"address {word}")
    base = operand(found[1], "u64")
    return f"({base} + u64({found[2] or 0}ll))"


def split_operands(text):
    """At commas outside of braces and parentheses."""
    words, depth, word = [], 0, ""
    for c in text:
        depth += c in "{(["
        depth -= c in "})]"
        if c == "," and depth == 0:
            words.append(word.strip())
            word = ""
        else:
            word += c
    if word.strip():
        words.append(word.strip())
    return words


def parts_of(word):
    return [part.strip() for part in word[1:-1].split(",")]
