#!/usr/bin/env python3
"""Translates PTX, as LLVM writes it, to C++ that does the same on this processor, thread by thread.

    ptx_to_cxx.py CODE.ptx CODE.cc

A kernel becomes a function of its parameters and the place of one thread; a register becomes a
variable, and a branch a goto. What is not known here is an error, and no guess.
"""
import pathlib
import re
import sys

from ptx_function import Function
from ptx_operands import Unknown, name_of

# What the instructions compute.
MACHINE = pathlib.Path(__file__).with_name("ptx_machine.h")
WARPGROUP = pathlib.Path(__file__).with_name("ptx_warpgroup.h")
# Where descriptors of swizzled matrices may begin.
MATRIX_ALIGNMENT = 1024

DECLARATION = re.compile(r"\.(visible|func|entry|global|const|weak|extern)\b[^;{]*[;{]")

# What every GPU and driver passes to a kernel (CUDA C++ Programming Guide, "Function Parameters").
PARAMETER_BYTES = 4096


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
        found = DECLARATION.search(ptx, at)
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
