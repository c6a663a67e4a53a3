"""Loads and stores of PTX, and copies to shared memory in the background (cp.async)."""
from ptx_operands import Unknown, address, operand, parts_of


def load_parameter(code, kind, o):
    code.out(o[0], kind, f"load<{kind}>({address(o[1])})")


def ld(code, m, k, o):
    kind = k[-1]
    if "param" in m:
        load_parameter(code, kind, o)
        return
    code.touch(m)
    targets = parts_of(o[0]) if o[0].startswith("{") else [o[0]]
    code.lines.append(f"{{ const u64 at = {address(o[1])};")
    for i, target in enumerate(targets):
        code.lines.append(f"const {kind} value{i} = load<{kind}>(at + {i} * sizeof({kind}));")
    for i, target in enumerate(targets):
        code.out(target, kind, f"value{i}")
    code.lines.append("}")


def st(code, m, k, o):
    kind = k[-1]
    if "param" in m:
        code.lines.append(f"store<{kind}>({address(o[0])}, {operand(o[1], kind)});")
        return
    code.touch(m)
    sources = parts_of(o[1]) if o[1].startswith("{") else [o[1]]
    for i, source in enumerate(sources):
        code.lines.append(
            f"store<{kind}>({address(o[0])} + {i} * sizeof({kind}), {operand(source, kind)});")
    if code.has_warpgroups and "shared" in m:
        code.lines.append(f"writes.wrote({address(o[0])}, {len(sources)} * sizeof({kind}));")


def cp(code, m, k, o):
    if m == ["async", "commit_group"]:
        code.lines.append("copies.commit();")
        return
    if m == ["async", "wait_group"]:
        wrote = ", [&](u64 at, u64 bytes) { writes.wrote(at, bytes); }"
        code.lines.append(f"copies.wait({operand(o[0], 'u32')}"
                          f"{wrote if code.has_warpgroups else ''});")
        return
    sizes = {"ca": ("4", "8", "16"), "cg": ("16",)}.get(m[1], ())
    if m[:1] + m[2:] != ["async", "shared", "global"] or o[2] not in sizes:
        raise Unknown(f"cp.{'.'.join(m)}")
    code.touch(["global"])
    read = operand(o[3] if len(o) > 3 else o[2], "u32")
    code.lines.append(f"if (!copies.begin({address(o[0])}, {address(o[1])}, {o[2]}, {read})) "
                      "{ *place.fault = true; return; }")


INSTRUCTIONS = {"ld": ld, "st": st, "cp": cp}
