"""Instructions of PTX that say what runs next, and when: branches, calls, barriers, faults, and
waiting for the kernels before."""
from ptx_operands import Unknown, name_of, parts_of


def bra(code, m, k, o):
    code.lines.append(f"goto {name_of(o[0])};")


def ret(code, m, k, o):
    code.lines.append("return;" if code.is_kernel else "return result;")


def exit_thread(code, m, k, o):
    code.lines.append("return;")


def trap(code, m, k, o):
    code.lines.append("{ *place.fault = true; return; }")


def call(code, m, k, o):
    result, function, arguments = o
    values = ", ".join(name_of(a) for a in parts_of(arguments))
    to = name_of(parts_of(result)[0])
    code.lines.append(
        f"{{ const Returned made = {name_of(function)}({values}); "
        f"std::memcpy({to}, made.bytes, sizeof({to})); }}")


def bar(code, m, k, o):
    if m != ["sync"] or o != ["0"]:
        raise Unknown("a barrier of a part of a block")
    code.lines.append("place.meet();")


def griddepcontrol(code, m, k, o):
    if m == ["wait"]:
        code.lines.append("has_waited = true;")
    elif m == ["launch_dependents"] and code.waits:
        code.fault_before_wait()
    else:
        raise Unknown(f"griddepcontrol.{'.'.join(m)} of a kernel that does not wait")


INSTRUCTIONS = {"bra": bra, "ret": ret, "exit": exit_thread, "trap": trap, "call": call, "bar": bar,
                "griddepcontrol": griddepcontrol}
