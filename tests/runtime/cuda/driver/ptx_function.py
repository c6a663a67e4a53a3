"""A function of PTX, statement by statement, as declarations and lines of C++.

The tables INSTRUCTIONS have a function for each instruction. It is called with the Function that
it adds lines to, the modifiers of the opcode, those of them that are types, and the operands.
"""
import re

import ptx_arithmetic
import ptx_control
import ptx_conversions
import ptx_matrices
import ptx_memory
from ptx_operands import Unknown, name_of, split_operands

TYPES = "s8 s16 s32 s64 u8 u16 u32 u64 b8 b16 b32 b64 f16 bf16 f32 f64 pred".split()
REGISTERS = {"pred": "bool", "b8": "u8", "b16": "u16", "b32": "u32", "b64": "u64", "f32": "f32",
             "f64": "f64", "u64": "u64", "u32": "u32", "s32": "u32", "s64": "u64", "u16": "u16"}
INSTRUCTIONS = {**ptx_arithmetic.INSTRUCTIONS, **ptx_control.INSTRUCTIONS,
                **ptx_conversions.INSTRUCTIONS, **ptx_matrices.INSTRUCTIONS,
                **ptx_memory.INSTRUCTIONS}


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
        if op not in INSTRUCTIONS:
            raise Unknown(f"instruction {op}")
        INSTRUCTIONS[op](self, modifiers, kinds, operands)

    def touch(self, modifiers):
        """Global memory is another kernel's until that has ended. An address of no space may be
        there."""
        if self.waits and not {"param", "shared", "local"}.intersection(modifiers):
            self.fault_before_wait()

    def fault_before_wait(self):
        self.lines.append("if (!has_waited) { *place.fault = true; return; }")

    def finish(self):
        """Says at each fence which registers hold sums of warpgroups."""
        sums = ", ".join("&" + name_of(register) for register in sorted(self.group_sums))
        self.lines = [line.replace("GROUP_SUMS", sums) for line in self.lines]

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
