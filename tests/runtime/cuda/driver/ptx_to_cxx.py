#!/usr/bin/env python3
"""Translates PTX, as LLVM writes it, to C++ that does the same on this processor, thread by thread.

    ptx_to_cxx.py CODE.ptx CODE.cc

A kernel becomes a function of its parameters and the place of one thread; a register becomes a
variable, and a branch a goto. What is not known here is an error, and no guess.
"""
import pathlib
import re
import sys

# What the instructions compute.
MACHINE = pathlib.Path(__file__).with_name("ptx_machine.h")
WARPGROUP = pathlib.Path(__file__).with_name("ptx_warpgroup.h")
# Where descriptors of swizzled matrices may begin.
MATRIX_ALIGNMENT = 1024

TYPES = "s8 s16 s32 s64 u8 u16 u32 u64 b8 b16 b32 b64 f16 bf16 f32 f64 pred".split()
REGISTERS = {"pred": "bool", "b8": "u8", "b16": "u16", "b32": "u32", "b64": "u64", "f32": "f32",
             "f64": "f64", "u64": "u64", "u32": "u32", "s32": "u32", "s64": "u64", "u16": "u16"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<",
               "ls": "<=", "hi": ">", "hs": ">="}

# What every GPU and driver passes to a kernel (CUDA C++ Programming Guide, "Function Parameters").
PARAMETER_BYTES = 4096


class Unknown(Exception):
    pass


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


class Function:
    """The body of one kernel or function, statement by statement."""

    def __init__(self, is_kernel, has_warpgroups=False, waits=False):
        self.is_kernel = is_kernel
        self.has_warpgroups = has_warpgroups
        self.waits = waits  # for the end of the kernels before it
        self.group_sums = set()  # registers that hold sums of warpgroups
        self.declarations = ["bool carry = false;"]
        if has_warpgroups:
            self.declarations += ["SharedWrites writes(place);", "BackgroundProducts products;"]
        if is_kernel:
            self.declarations.append("BackgroundCopies copies;")
        if waits:
            self.declarations.append("bool has_waited = false;")
        self.lines = []

    def out(self, target, kind, value):
        self.lines.append(f"out<{kind}>({name_of(target)}, {value});")

    def statement(self, text):
        guard = re.match(r"@(!?)(%p\d+)\s+", text)
        if guard:
            text = text[guard.end():]
        begin = len(self.lines)
        opcode, _, rest = text.partition(" ")
        self.instruction(opcode.strip().split("."), split_operands(rest.strip()))
        if guard:
            inside = " ".join(self.lines[begin:])
            self.lines[begin:] = [f"if ({guard[1]}{name_of(guard[2])}) {{ {inside} }}"]

    def instruction(self, modifiers, operands):
        op, modifiers = modifiers[0], modifiers[1:]
        kinds = [m for m in modifiers if m in TYPES]
        handler = getattr(self, "do_" + op, None)
        if handler is None:
            raise Unknown(f"instruction {op}")
        handler(modifiers, kinds, operands)

    def flushed(self, modifiers, value):
        return f"flushed({value})" if "ftz" in modifiers else value

    def compute(self, function, modifiers, kinds, operands):
        kind = kinds[-1]
        values = [self.flushed(modifiers, operand(o, kind)) for o in operands[1:]]
        self.out(operands[0], kind, self.flushed(modifiers, f"{function}({', '.join(values)})"))

    def do_add(self, m, k, o):
        if "cc" in m:
            self.carried("add", "false", m, k, o)
        else:
            self.compute(f"add<{k[-1]}>", m, k, o)

    def do_addc(self, m, k, o):
        self.carried("add", "carry", m, k, o)

    def do_sub(self, m, k, o):
        if "cc" in m:
            self.carried("sub", "false", m, k, o)
        else:
            self.compute(f"sub<{k[-1]}>", m, k, o)

    def do_subc(self, m, k, o):
        self.carried("sub", "carry", m, k, o)

    def carried(self, op, carry_in, m, k, o):
        """Takes a carry (or borrow) and, with .cc, leaves one."""
        kind = "u" + k[-1][1:]
        a, b = operand(o[1], kind), operand(o[2], kind)
        sign = {"add": "+", "sub": "-"}[op]
        self.lines.append(f"{{ const u128 whole = u128({a}) {sign} u128({b}) {sign} u128({carry_in});")
        if "cc" in m:
            self.lines.append(f"carry = (whole >> {kind[1:]}) & 1;")
        self.out(o[0], kind, f"{kind}(whole)")
        self.lines.append("}")

    def do_mul(self, m, k, o):
        if "wide" in m:
            wide = k[-1][0] + str(2 * int(k[-1][1:]))
            a, b = (operand(x, k[-1]) for x in o[1:])
            self.out(o[0], wide, f"mul_wide<{wide}, {k[-1]}>({a}, {b})")
        elif "hi" in m:
            self.compute(f"mul_hi<{k[-1]}>", m, k, o)
        else:
            self.compute(f"mul<{k[-1]}>", m, k, o)

    def do_mad(self, m, k, o):
        kind = k[-1]
        if "wide" in m:
            wide = kind[0] + str(2 * int(kind[1:]))
            product = f"mul_wide<{wide}, {kind}>({operand(o[1], kind)}, {operand(o[2], kind)})"
            self.out(o[0], wide, f"add<{wide}>({product}, {operand(o[3], wide)})")
            return
        if "lo" not in m:
            raise Unknown("mad without .lo")
        product = f"mul<{kind}>({operand(o[1], kind)}, {operand(o[2], kind)})"
        self.out(o[0], kind, f"add<{kind}>({product}, {operand(o[3], kind)})")

    def do_fma(self, m, k, o):
        self.compute(f"fma<{k[-1]}>", m, k, o)

    def do_div(self, m, k, o):
        if "approx" in m or "full" in m:
            raise Unknown("an approximate division")
        self.compute(f"div<{k[-1]}>", m, k, o)

    def do_rcp(self, m, k, o):
        if "approx" in m:
            raise Unknown("an approximate reciprocal")
        kind = k[-1]
        value = self.flushed(m, operand(o[1], kind))
        self.out(o[0], kind, self.flushed(m, f"{kind}(1) / {value}"))

    def do_sqrt(self, m, k, o):
        if "approx" in m:
            raise Unknown("an approximate root")
        self.compute("std::sqrt", m, k, o)

    def do_rem(self, m, k, o):
        self.compute(f"rem<{k[-1]}>", m, k, o)

    def do_min(self, m, k, o):
        self.compute(f"least<{'true' if 'NaN' in m else 'false'}, {k[-1]}>", m, k, o)

    def do_max(self, m, k, o):
        self.compute(f"most<{'true' if 'NaN' in m else 'false'}, {k[-1]}>", m, k, o)

    def do_neg(self, m, k, o):
        self.compute(f"neg<{k[-1]}>", m, k, o)

    def do_abs(self, m, k, o):
        self.compute(f"absolute<{k[-1]}>", m, k, o)

    def do_copysign(self, m, k, o):  # the sign of the first
        self.out(o[0], k[-1], f"std::copysign({operand(o[2], k[-1])}, {operand(o[1], k[-1])})")

    def bits(self, sign, k, o):
        kind = k[-1]
        a, b = operand(o[1], kind), operand(o[2], kind)
        self.out(o[0], kind, f"{kind}({a} {sign} {b})")

    def do_and(self, m, k, o):
        self.bits("&", k, o)

    def do_or(self, m, k, o):
        self.bits("|", k, o)

    def do_xor(self, m, k, o):
        self.bits("^", k, o)

    def do_not(self, m, k, o):
        sign = "!" if k[-1] == "pred" else "~"
        self.out(o[0], k[-1], f"{k[-1]}({sign}{operand(o[1], k[-1])})")

    def do_shl(self, m, k, o):
        self.out(o[0], k[-1], f"shl<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')})")

    def do_shr(self, m, k, o):
        self.out(o[0], k[-1], f"shr<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')})")

    def do_shf(self, m, k, o):
        if "wrap" not in m:
            raise Unknown("shf without .wrap")
        side = "left" if "l" in m else "right"
        values = ", ".join(operand(x, "u32") for x in o[1:])
        self.out(o[0], "u32", f"funnel_{side}({values})")

    def do_bfe(self, m, k, o):
        self.out(o[0], k[-1], f"bfe<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], 'u32')}, "
                 f"{operand(o[3], 'u32')})")

    def do_bfi(self, m, k, o):
        self.out(o[0], k[-1], f"bfi<{k[-1]}>({operand(o[1], k[-1])}, {operand(o[2], k[-1])}, "
                 f"{operand(o[3], 'u32')}, {operand(o[4], 'u32')})")

    def do_prmt(self, m, k, o):
        self.out(o[0], "u32", f"permuted({', '.join(operand(x, 'u32') for x in o[1:])})")

    def do_clz(self, m, k, o):
        kind = "u" + k[-1][1:]
        self.out(o[0], "u32", f"leading_zeros<{kind}>({operand(o[1], kind)})")

    def do_popc(self, m, k, o):
        self.out(o[0], "u32", f"u32(std::popcount({operand(o[1], 'u' + k[-1][1:])}))")

    def do_mov(self, m, k, o):
        kind = k[-1]
        if o[0].startswith("{"):
            parts = parts_of(o[0])
            size = int(kind[1:]) // len(parts)
            value = operand(o[1], "u" + kind[1:])
            for i, part in enumerate(parts):
                if part != "_":
                    self.out(part, f"u{size}", f"u{size}({value} >> {i * size})")
        elif o[1].startswith("{"):
            parts = parts_of(o[1])
            size = int(kind[1:]) // len(parts)
            wide = "u" + kind[1:]
            value = " | ".join(f"({wide}({operand(p, f'u{size}')}) << {i * size})"
                               for i, p in enumerate(parts))
            self.out(o[0], wide, f"{wide}({value})")
        else:
            self.out(o[0], kind, operand(o[1], kind))

    def do_cvta(self, m, k, o):
        self.out(o[0], k[-1], operand(o[1], k[-1]))

    def touch(self, modifiers):
        """Global memory is another kernel's until that has ended. An address of no space may be
        there."""
        if self.waits and not {"param", "shared", "local"}.intersection(modifiers):
            self.fault_before_wait()

    def fault_before_wait(self):
        self.lines.append("if (!has_waited) { *place.fault = true; return; }")

    def do_griddepcontrol(self, m, k, o):
        if m == ["wait"]:
            self.lines.append("has_waited = true;")
        elif m == ["launch_dependents"] and self.waits:
            self.fault_before_wait()
        else:
            raise Unknown(f"griddepcontrol.{'.'.join(m)} of a kernel that does not wait")

    def do_ld(self, m, k, o):
        kind = k[-1]
        if "param" in m:
            self.load_parameter(kind, o)
            return
        self.touch(m)
        targets = parts_of(o[0]) if o[0].startswith("{") else [o[0]]
        self.lines.append(f"{{ const u64 at = {address(o[1])};")
        for i, target in enumerate(targets):
            self.lines.append(f"const {kind} value{i} = load<{kind}>(at + {i} * sizeof({kind}));")
        for i, target in enumerate(targets):
            self.out(target, kind, f"value{i}")
        self.lines.append("}")

    def load_parameter(self, kind, o):
        self.out(o[0], kind, f"load<{kind}>({address(o[1])})")

    def do_st(self, m, k, o):
        kind = k[-1]
        if "param" in m:
            self.lines.append(f"store<{kind}>({address(o[0])}, {operand(o[1], kind)});")
            return
        self.touch(m)
        sources = parts_of(o[1]) if o[1].startswith("{") else [o[1]]
        for i, source in enumerate(sources):
            self.lines.append(
                f"store<{kind}>({address(o[0])} + {i} * sizeof({kind}), {operand(source, kind)});")
        if self.has_warpgroups and "shared" in m:
            self.lines.append(f"writes.wrote({address(o[0])}, {len(sources)} * sizeof({kind}));")

    def do_setp(self, m, k, o):
        kind, test = k[-1], m[0]
        a, b = (self.flushed(m, operand(x, kind)) for x in o[1:3])
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
        self.out(o[0], "pred", f"bool({value})")

    def do_selp(self, m, k, o):
        a, b = operand(o[1], k[-1]), operand(o[2], k[-1])
        self.out(o[0], k[-1], f"({operand(o[3], 'pred')} ? {a} : {b})")

    def do_cvt(self, m, k, o):
        if m == ["rna", "tf32", "f32"]:
            self.out(o[0], "b32", f"nearest_tf32({operand(o[1], 'f32')})")
            return
        if len(m) == 3 and m[0] == "rn" and m[1] in ("bf16x2", "f16x2") and m[2] == "f32":
            kind = m[1][:-2]
            high, low = (f"std::bit_cast<u16>(convert<{kind}>({operand(x, 'f32')}, 'n'))"
                         for x in o[1:])
            self.out(o[0], "b32", f"(u32({high}) << 16 | {low})")
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
        self.out(o[0], to, value)

    def do_bra(self, m, k, o):
        self.lines.append(f"goto {name_of(o[0])};")

    def do_ret(self, m, k, o):
        self.lines.append("return;" if self.is_kernel else "return result;")

    def do_bar(self, m, k, o):
        if m != ["sync"] or o != ["0"]:
            raise Unknown("a barrier of a part of a block")
        self.lines.append("place.meet();")

    def do_cp(self, m, k, o):
        if m == ["async", "commit_group"]:
            self.lines.append("copies.commit();")
            return
        if m == ["async", "wait_group"]:
            wrote = ", [&](u64 at, u64 bytes) { writes.wrote(at, bytes); }"
            self.lines.append(f"copies.wait({operand(o[0], 'u32')}"
                              f"{wrote if self.has_warpgroups else ''});")
            return
        sizes = {"ca": ("4", "8", "16"), "cg": ("16",)}.get(m[1], ())
        if m[:1] + m[2:] != ["async", "shared", "global"] or o[2] not in sizes:
            raise Unknown(f"cp.{'.'.join(m)}")
        self.touch(["global"])
        read = operand(o[3] if len(o) > 3 else o[2], "u32")
        self.lines.append(f"if (!copies.begin({address(o[0])}, {address(o[1])}, {o[2]}, {read})) "
                          "{ *place.fault = true; return; }")

    def meet_group(self, threads, own, function):
        """The number is that of the instruction in its kernel."""
        self.lines.append(f"place.meet_group({threads}, {len(self.lines)}, &{own}, {function});")

    def do_ldmatrix(self, m, k, o):
        count = {"x1": 1, "x2": 2, "x4": 4}.get(m[3])
        if count is None or m[:3] + m[4:] != ["sync", "aligned", "m8n8", "shared", "b16"]:
            raise Unknown(f"ldmatrix.{'.'.join(m)}")
        self.lines.append(f"{{ Matrices own = {{{address(o[1])}}};")
        self.lines.append("if (own.row % 16 != 0) { *place.fault = true; return; }")
        self.meet_group(32, "own", f"load_matrices<{count}>")
        for i, target in enumerate(parts_of(o[0])):
            self.out(target, "b32", f"own.parts[{i}]")
        self.lines.append("}")

    def do_mma(self, m, k, o):
        kind = m[6] if len(m) == 9 else ""
        shape = {"f16": "m16n8k16", "bf16": "m16n8k16", "tf32": "m16n8k8"}.get(kind)
        if m != ["sync", "aligned", shape, "row", "col", "f32", kind, kind, "f32"]:
            raise Unknown(f"mma.{'.'.join(m)}")
        left, right, sums = ([operand(part, to) for part in parts_of(word)]
                             for word, to in zip(o[1:], ("u32", "u32", "f32")))
        self.lines.append(f"{{ Product own = {{{{{', '.join(left)}}}, {{{', '.join(right)}}}, "
                          f"{{{', '.join(sums)}}}}};")
        self.meet_group(32, "own", f"multiply<{kind}>")
        for i, target in enumerate(parts_of(o[0])):
            self.out(target, "f32", f"own.results[{i}]")
        self.lines.append("}")

    def do_fence(self, m, k, o):
        if m not in (["proxy", "async"], ["proxy", "async", "shared::cta"]):
            raise Unknown(f"fence.{'.'.join(m)}")
        if self.has_warpgroups:
            self.lines.append("writes.tell();")

    def do_wgmma(self, m, k, o):
        if m == ["fence", "sync", "aligned"]:
            self.lines.append("products.fence({GROUP_SUMS});")
        elif m == ["commit_group", "sync", "aligned"]:
            self.lines.append("products.commit();")
        elif m == ["wait_group", "sync", "aligned"]:
            self.lines.append(f"products.wait({operand(o[0], 'u64')});")
        else:
            self.group_product(m, o)

    def group_product(self, m, o):
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
        self.group_sums.update(registers)
        sums = "{" + ", ".join("&" + name_of(register) for register in registers) + "}"
        adds = operand(o[3], "pred")
        self.lines.append(f"{{ GroupProduct own = {{{operand(o[1], 'u64')}, {operand(o[2], 'u64')}, "
                          f"reinterpret_cast<u64>(place.shared), {adds}}};")
        self.lines.append(f"products.take({sums}, own.sums);")
        self.meet_group(128, "own", f"multiply_group<{m[5]}, {lanes}, {', '.join(transposed)}>")
        self.lines.append("if (own.is_wrong) { *place.fault = true; return; }")
        self.lines.append(f"products.begin({sums}, own); }}")

    def finish(self):
        """Says at each fence which registers hold sums of warpgroups."""
        sums = ", ".join("&" + name_of(register) for register in sorted(self.group_sums))
        self.lines = [line.replace("GROUP_SUMS", sums) for line in self.lines]

    def do_trap(self, m, k, o):
        self.lines.append("{ *place.fault = true; return; }")

    def do_exit(self, m, k, o):
        self.lines.append("return;")

    def do_call(self, m, k, o):
        result, function, arguments = o
        values = ", ".join(name_of(a) for a in parts_of(arguments))
        to = name_of(parts_of(result)[0])
        self.lines.append(
            f"{{ const Returned made = {name_of(function)}({values}); "
            f"std::memcpy({to}, made.bytes, sizeof({to})); }}")

    def declare(self, text):
        found = re.fullmatch(r"\.reg \.(\w+)\s+(%\w+)<(\d+)>", text)
        if found:
            kind = REGISTERS[found[1]]
            names = ", ".join(f"{name_of(found[2] + str(i))} = 0" for i in range(int(found[3])))
            self.declarations.append(f"{kind} {names};")
            return
        found = re.fullmatch(r"\.reg \.(\w+)\s+(%\w+)", text)
        if found:
            self.declarations.append(f"{REGISTERS[found[1]]} {name_of(found[2])} = 0;")
            return
        found = re.fullmatch(r"\.reg \.(\w+)\s+(\w+)", text)
        if found:  # of a block that stands in one line, where it is a target
            self.lines.append(f"{REGISTERS[found[1]]} {name_of(found[2])} = 0;")
            return
        found = re.fullmatch(r"\.local \.align (\d+) \.b8\s+(\w+)\[(\d+)\]", text)
        if found:
            # What is read before it is written is seen.
            name = name_of(found[2])
            self.declarations.append(f"alignas({found[1]}) u8 {name}[{found[3]}];")
            self.declarations.append(f"std::memset({name}, 0xfb, sizeof({name}));")
            return
        found = re.fullmatch(r"\.param (?:\.align \d+ )?\.\w+ (\w+)(?:\[(\d+)\])?", text)
        if found:
            self.lines.append(f"u8 {name_of(found[1])}[{found[2] or 8}];")
            return
        raise Unknown(f"declaration {text}")

    def body(self, text):
        for line in re.split(r"[;\n]", text):
            line = re.sub(r"//.*", "", line).strip()
            label = re.match(r"(\$\w+):", line)
            if label:
                self.lines.append(f"{name_of(label[1])}:;")
                line = line[label.end():].strip()
            line = re.sub(r"\s+", " ", line)
            if not line or line.startswith(".pragma") or line.startswith(".loc "):
                continue
            if line.startswith("{ "):
                self.lines.append("{")
                line = line[2:]
            if line in "{}":
                self.lines.append(line)
            elif line.startswith("."):
                self.declare(line)
            else:
                self.statement(line)


def joined_statements(text):
    """Puts statements that stand in several lines, such as calls, into one."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"(call|mma\.)[^;]*;", lambda found: re.sub(r"\s+", " ", found[0]), text)


def parts_of_head(head):
    """The kind of a function, its name and the names of its parameters."""
    found = re.search(r"\.(entry|func)\s*(\([^)]*\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?", head)
    parameters = re.findall(r"\.param\s+(?:\.align \d+\s+)?\.\w+\s+([\w$]+)", found[4] or "")
    return found[1], found[3], parameters


def signature_of(head):
    _, name, parameters = parts_of_head(head)
    arguments = ", ".join(f"const u8* {name_of(word)}" for word in parameters)
    return f"static Returned {name_of(name)}({arguments})"


def translate_function(head, body, shared):
    """`shared`: the names of the block's shared memory."""
    kind, name, parameters = parts_of_head(head)
    is_kernel = kind == "entry"
    if is_kernel and 8 * len(parameters) > PARAMETER_BYTES:
        raise Unknown(f"kernel {name} with more than {PARAMETER_BYTES} bytes of parameters")
    function = Function(is_kernel, has_warpgroups=is_kernel and "wgmma." in body,
                        waits=is_kernel and "griddepcontrol.wait" in body)
    function.body(joined_statements(body))
    function.finish()
    code = ""
    if is_kernel:
        code += f'extern "C" const int {name}_parameters = {len(parameters)};\n'
        code += f'extern "C" void {name}(void** parameters, const Place& place) {{\n'
        for word in shared:
            code += f"  u8* const {name_of(word)} = place.shared;\n"
        if any("place.meet" in line for line in function.lines):
            code = f'extern "C" const bool {name}_meets = true;\n' + code
        for i, word in enumerate(parameters):
            code += f"  const void* const {name_of(word)} = parameters[{i}];\n"
    else:
        code += signature_of(head) + " {\n"
        code += "  Returned result;\n  u8* const r_func_retval0 = result.bytes;\n"
    for line in function.declarations + function.lines:
        code += f"  {line}\n"
    return code + "}\n"


def translate_global(text):
    text = re.sub(r"\s+", " ", text).strip().rstrip(";")
    found = re.fullmatch(
        r"(?:\.visible )?\.(?:global|const) (?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d+)\])?"
        r"(?: = \{?([^}]*)\}?)?", text)
    if not found:
        raise Unknown(f"global {text}")
    values = found[5] or "0"
    return (f"alignas({found[1] or 1}) static {found[2]} {name_of(found[3])}[{found[4] or 1}] = "
            f"{{{', '.join(f'{found[2]}({v.strip()}u)' for v in values.split(','))}}};\n")


def translate(ptx):
    ptx = re.sub(r"//[^\n]*", "", ptx)
    has_warpgroups = "wgmma." in ptx
    code = f'#include "{WARPGROUP if has_warpgroups else MACHINE}"\n'
    shared = []
    at = 0
    while True:
        found = re.compile(r"\.(visible|func|entry|global|const|weak|extern)\b[^;{]*[;{]").search(ptx, at)
        if not found:
            return code
        if found[1] == "extern":
            memory = re.fullmatch(r"\.extern \.shared \.align (\d+) \.b8 ([\w$]+)\[\];", found[0])
            if not memory:
                raise Unknown(f"declaration {found[0]}")
            if has_warpgroups and int(memory[1]) % MATRIX_ALIGNMENT != 0:
                raise Unknown(f"matrices of warpgroups in {found[0]}")
            code += f'extern "C" const int shared_alignment = {memory[1]};\n'
            shared.append(memory[2])
            end = found.end()
        elif re.search(r"\.(global|const)\b", found[0]):
            end = ptx.index(";", found.start()) + 1
            code += translate_global(ptx[found.start():end])
        elif found[0].endswith(";"):
            code += signature_of(found[0]) + ";\n"
            end = found.end()
        else:
            depth, end = 1, found.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(ptx[end], 0)
                end += 1
            code += translate_function(found[0], ptx[found.end():end - 1], shared)
        at = end


def main():
    with open(sys.argv[1]) as file:
        ptx = file.read()
    try:
        code = translate(ptx)
    except Unknown as unknown:
        sys.exit(f"expected code as LLVM writes it, found {unknown}")
    with open(sys.argv[2], "w") as file:
        file.write(code)


if __name__ == "__main__":
    main()
