"""Conversions of PTX from one type to another, also of pairs, and of addresses."""
from ptx_operands import Unknown, operand


def cvt(code, m, k, o):
    if m == ["rna", "tf32", "f32"]:
        code.out(o[0], "b32", f"nearest_tf32({operand(o[1], 'f32')})")
        return
    if len(m) == 3 and m[0] == "rn" and m[1] in ("bf16x2", "f16x2") and m[2] == "f32":
        kind = m[1][:-2]
        high, low = (f"std::bit_cast<u16>(convert<{kind}>({operand(x, 'f32')}, 'n'))"
                     for x in o[1:])
        code.out(o[0], "b32", f"(u32({high}) << 16 | {low})")
        return
    to, source = k
    to_whole = {"rni": "i", "rzi": "z", "rmi": "m", "rpi": "p"}
    how = next((to_whole[x] for x in m if x in to_whole), "n")
    if "sat" in m or any(x in m for x in ("rm", "rp", "rz")):
        raise Unknown("a conversion that saturates or rounds otherwise")
    value = operand(o[1], source)
    if "ftz" in m and source == "f32":
        value = f"flushed({value})"
    value = f"convert<{to}>({value}, '{how}')"
    if "ftz" in m and to == "f32":
        value = f"flushed({value})"
    code.out(o[0], to, value)


def cvta(code, m, k, o):
    code.out(o[0], k[-1], operand(o[1], k[-1]))


INSTRUCTIONS = {"cvt": cvt, "cvta": cvta}
