"""Matrix instructions of PTX that a warp or a warpgroup executes together."""
import re

from ptx_operands import Unknown, address, name_of, operand, parts_of


def meet_group(code, threads, own, function):
    """The number is that of the instruction in its kernel."""
    code.lines.append(f"place.meet_group({threads}, {len(code.lines)}, &{own}, {function});")


def group_product(code, m, o):
    shape = re.fullmatch(r"m64n(\d+)k16", m[3]) if len(m) == 7 else None
    lanes = int(shape[1]) if shape else 0
    if (lanes not in range(8, 257, 8) or m[:3] != ["mma_async", "sync", "aligned"]
            or m[4] != "f32" or m[5] not in ("f16", "bf16") or m[6] != m[5]):
        raise Unknown(f"wgmma.{'.'.join(m)}")
    registers = parts_of(o[0])
    # Both factors in shared memory, neither with its sign turned.
    if len(registers) != lanes // 2 or len(o) != 8 or o[4:6] != ["1", "1"]:
        raise Unknown(f"operands of wgmma.{'.'.join(m)}")
    transposed = ["true" if word == "1" else "false" for word in o[6:8]]
    code.group_sums.update(registers)
    sums = "{" + ", ".join("&" + name_of(register) for register in registers) + "}"
    adds = operand(o[3], "pred")
    code.lines.append(f"{{ GroupProduct own = {{{operand(o[1], 'u64')}, {operand(o[2], 'u64')}, "
                      f"reinterpret_cast<u64>(place.shared), {adds}}};")
    code.lines.append(f"products.take({sums}, own.sums);")
    meet_group(code, 128, "own", f"multiply_group<{m[5]}, {lanes}, {', '.join(transposed)}>")
    code.lines.append("if (own.is_wrong) { *place.fault = true; return; }")
    code.lines.append(f"products.begin({sums}, own); }}")


def ldmatrix(code, m, k, o):
    count = {"x1": 1, "x2": 2, "x4": 4}.get(m[3])
    if count is None or m[:3] + m[4:] != ["sync", "aligned", "m8n8", "shared", "b16"]:
        raise Unknown(f"ldmatrix.{'.'.join(m)}")
    code.lines.append(f"{{ Matrices own = {{{address(o[1])}}};")
    code.lines.append("if (own.row % 16 != 0) { *place.fault = true; return; }")
    meet_group(code, 32, "own", f"load_matrices<{count}>")
    for i, target in enumerate(parts_of(o[0])):
        code.out(target, "b32", f"own.parts[{i}]")
    code.lines.append("}")


def mma(code, m, k, o):
    kind = m[6] if len(m) == 9 else ""
    shape = {"f16": "m16n8k16", "bf16": "m16n8k16", "tf32": "m16n8k8"}.get(kind)
    if m != ["sync", "aligned", shape, "row", "col", "f32", kind, kind, "f32"]:
        raise Unknown(f"mma.{'.'.join(m)}")
    left, right, sums = ([operand(part, to) for part in parts_of(word)]
                         for word, to in zip(o[1:], ("u32", "u32", "f32")))
    code.lines.append(f"{{ Product own = {{{{{', '.join(left)}}}, {{{', '.join(right)}}}, "
                      f"{{{', '.join(sums)}}}}};")
    meet_group(code, 32, "own", f"multiply<{kind}>")
    for i, target in enumerate(parts_of(o[0])):
        code.out(target, "f32", f"own.results[{i}]")
    code.lines.append("}")


def fence(code, m, k, o):
    if m not in (["proxy", "async"], ["proxy", "async", "shared::cta"]):
        raise Unknown(f"fence.{'.'.join(m)}")
    if code.has_warpgroups:
        code.lines.append("writes.tell();")


def wgmma(code, m, k, o):
    if m == ["fence", "sync", "aligned"]:
        code.lines.append("products.fence({GROUP_SUMS});")
    elif m == ["commit_group", "sync", "aligned"]:
        code.lines.append("products.commit();")
    elif m == ["wait_group", "sync", "aligned"]:
        code.lines.append(f"products.wait({operand(o[0], 'u64')});")
    else:
        group_product(code, m, o)


INSTRUCTIONS = {"ldmatrix": ldmatrix, "mma": mma, "fence": fence, "wgmma": wgmma}
