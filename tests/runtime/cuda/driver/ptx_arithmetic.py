"""Instructions of PTX that compute a register from others: arithmetic, bits, comparisons."""
from ptx_operands import Unknown, operand, parts_of

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<",
               "ls": "<=", "hi": ">", "hs": ">="}


def flushed(modifiers, value):
    return f"flushed({value})" if "ftz" in modifiers else value


def compute(code, function, modifiers, kinds, operands):
    kind = kinds[-1]
    values = [flushed(modifiers, operand(o, kind)) for o in operands[1:]]
    code.out(operands[0], kind, flushed(modifiers, f"{function}({', '.join(values)})"))


def carried(code, op, carry_in, m, k, o):
    """Takes a carry (or borrow) and, with .cc, leaves one."""
    kind = "u" + k[-1][1:]
    a, b = operand(o[1], kind), operand(o[2], kind)
    sign = {"add": "+", "sub": "-"}[op]
    code.lines.append(f"{{ const u128 whole = u128({a}) {sign} u128({b}) {sign} u128({carry_in});")
    if "cc" in m:
        code.lines.append(f"carry = (whole >> {kind[1:]}) & 1;")
    code.out(o[0], kind, f"{kind}(whole)")
    code.lines.append("}")


def bits(code, sign, k, o):
    kind = k[-1]
    a, b = operand(o[1], kind), operand(o[2], kind)
    code.out(o[0], kind, f"{kind}({a} {sign} {b})")


def add(code, m, k, o):
    if "cc" in m:
        carried(code, "add", "false", m, k, o)
    else:
        compute(code, f"add<{k[-1]}>", m, k, o)


def addc(code, m, k, o):
    carried(code, "add", "carry", m, k, o)


def sub(code, m, k, o):
    if "cc" in m:
        carried(code, "sub", "false", m, k, o)
    else:
        compute(code, f"sub<{k[-1]}>", m, k, o)


def subc(code, m, k, o):
    carried(code, "sub", "carry", m, k, o)


def mul(code, m, k, o):
    if "wide" in m:
        wide = k[-1][0] + str(2 * int(k[-1][1:]))
        a, b = (operand(x, k[-1]) for x in o[1:])
        code.out(o[0], wide, f"mul_wide<{wide}, {k[-1]}>({a}, {b})")
    elif "hi" in m:
        compute(code, f"mul_hi<{k[-1]}>", m, k, o)
    else:
        compute(code, f"mul<{k[-1]}>", m, k, o)


def mad(code, m, k, o):
    kind = k[-1]
    if "wide" in m:
        wide = kind[0] + str(2 * int(kind[1:]))
        product = f"mul_wide<{wide}, {kind}>({operand(o[1], kind)}, {operand(o[2], kind)})"
        code.out(o[0], wide, f"add<{wide}>({product}, {operand(o[3], wide)})")
        return
    if "lo" not in m:
        raise Unknown("mad without .lo")
    product = f"mul<{kind}>({operand(o[1], kind)}, {operand(o[2], kind)})"
    code.out(o[0], kind, f"add<{kind}>({product}, {operand(o[3], kind)})")


def fma(code, m, k, o):
    compute(code, f"fma<{k[-1]}>", m, k, o)


def div(code, m, k, o):
    if "approx" in m or "full" in m:
        raise Unknown("an approximate division")
    compute(code, f"div<{k[-1]}>", m, k, o)


def rcp(code, m, k, o):
    if "approx" in m:
        raise Unknown("an approximate reciprocal")
    kind = k[-1]
    value = flushed(m, operand(o[1], kind))
    code.out(o[0], kind, flushed(m, f"{kind}(1) / {value}"))


def sqrt(code, m, k, o):
    if "approx" in m:
        raise Unknown("an approximate root")
    compute(code, "std::sqrt", m, k, o)


def rem(code, m, k, o):
    compute(code, f"rem<{k[-1]}>", m, k, o)


def minimum(code, m, k, o):
    compute(code, f"least<{'true' if 'NaN' in m else 'false'}, {k[-1]}>", m, k, o)


def maximum(code, m, k, o):
    compute(code, f"most<{'true' if 'NaN' in m else 'false'}, {k[-1]}>", m, k, o)


def neg(code, m, k, o):
    compute(code, f"neg<{k[-1]}>", m, k, o)


def absolute(code, m, k, o):
    compute(code, f"absolute<{k[-1]}>", m, k, o)


def copysign(code, m, k, o):  # the sign of the first
    code.out(o[0], k[-1], f"std::copysign({operand(o[2], k[-1])}, {operand(o[1], k[-1])})")


def bit_and(code, m, k, o):
    bits(code, "&", k, o)


def bit_or(code, m, k, o):
    bits(code, "|", k, o)


def bit_xor(code, m, k, o):
    bits(code, "^", k, o)


def bit_not(code, m, k, o):
    sign = "!" if k[-1] == "pred" else "~"
    code.out(o[0], k[-1], f"{k[-1]}({sign}{operand(o[1], k[-1])})")


def shl(code, m, k, o):
    code.out(o[0], k[-1], f"shl<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')})")


def shr(code, m, k, o):
    code.out(o[0], k[-1], f"shr<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')})")


def shf(code, m, k, o):
    if "wrap" not in m:
        raise Unknown("shf without .wrap")
    side = "left" if "l" in m else "right"
    values = ", ".join(operand(x, "u32") for x in o[1:])
    code.out(o[0], "u32", f"funnel_{side}({values})")


def bfe(code, m, k, o):
    code.out(o[0], k[-1], f"bfe<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')}, "
             f"{operand(o[3], 'u32')})")


def bfi(code, m, k, o):
    code.out(o[0], k[-1], f"bfi<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], k[-1])}, "
             f"{operand(o[3], 'u32')}, {operand(o[4], 'u32')})")


def prmt(code, m, k, o):
    code.out(o[0], "u32", f"permuted({', '.join(operand(x, 'u32') for x in o[1:])})")


def clz(code, m, k, o):
    kind = "u" + k[-1][1:]
    code.out(o[0], "u32", f"leading_zeros<{kind}>({operand(o[1], kind)})")


def popc(code, m, k, o):
    code.out(o[0], "u32", f"u32(std::popcount({operand(o[1], 'u' + k[-1][1:])}))")


def mov(code, m, k, o):
    kind = k[-1]
    if o[0].startswith("{"):
        parts = parts_of(o[0])
        size = int(kind[1:]) // len(parts)
        value = operand(o[1], "u" + kind[1:])
        for i, part in enumerate(parts):
            if part != "_":
                code.out(part, f"u{size}", f"u{size}({value} >> {i * size})")
    elif o[1].startswith("{"):
        parts = parts_of(o[1])
        size = int(kind[1:]) // len(parts)
        wide = "u" + kind[1:]
        value = " | ".join(f"({wide}({operand(p, f'u{size}')}) << {i * size})"
                           for i, p in enumerate(parts))
        code.out(o[0], wide, f"{wide}({value})")
    else:
        code.out(o[0], kind, operand(o[1], kind))


def setp(code, m, k, o):
    kind, test = k[-1], m[0]
    a, b = (flushed(m, operand(x, kind)) for x in o[1:3])
    if test in ("num", "nan"):
        value = f"{'!' if test == 'num' else ''}({a} != {a} || {b} != {b})"
    elif test[:2] in COMPARISONS and test[2:] in ("", "u"):
        unordered = f"{a} != {a} || {b} != {b} || " if test[2:] else ""
        if test == "ne" and kind in ("f32", "f64"):
            unordered = f"{a} == {a} && {b} == {b} && "
        value = f"({unordered}{a} {COMPARISONS[test[:2]]} {b})"
    else:
        raise Unknown(f"comparison {test}")
    joined = {"and": "&&", "or": "||"}
    if len(m) > 1 and m[1] in joined:
        value = f"({value} {joined[m[1]]} {operand(o[3], 'pred')})"
    code.out(o[0], "pred", f"bool({value})")


def selp(code, m, k, o):
    a, b = operand(o[1], k[-1]), operand(o[2], k[-1])
    code.out(o[0], k[-1], f"({operand(o[3], 'pred')} ? {a} : {b})")


INSTRUCTIONS = {"add": add, "addc": addc, "sub": sub, "subc": subc, "mul": mul, "mad": mad,
                "fma": fma, "div": div, "rcp": rcp, "sqrt": sqrt, "rem": rem, "min": minimum,
                "max": maximum, "neg": neg, "abs": absolute, "copysign": copysign,
                "and": bit_and, "or": bit_or, "xor": bit_xor, "not": bit_not, "shl": shl,
                "shr": shr, "shf": shf, "bfe": bfe, "bfi": bfi, "prmt": prmt, "clz": clz,
                "popc": popc, "mov": mov, "setp": setp, "selp": selp}
