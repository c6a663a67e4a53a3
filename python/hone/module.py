"""A compiled model: ctypes over the runtime's C API (runtime/c_api.h)."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, overload

import numpy as np
import numpy.typing as npt

from hone import device_tensor
from hone.arguments import MAX_INT32, integer, items_of, path_of, runs_of, threads_of
from hone.dtypes import dtype_of, holds, native
from hone.errors import Error


class TensorInfo(NamedTuple):
    """What is known of an input or output."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class CallInfo(NamedTuple):
    """A call of a kernel, as a run makes them in order."""

    name: str
    workload: str
    config: str
    tier: str
    flops: float


class _KernelInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("workload", ctypes.c_char_p),
        ("config", ctypes.c_char_p),
        ("tier", ctypes.c_char_p),
        ("flops", ctypes.c_double),
    ]


class _Info(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("rank", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("size_bytes", ctypes.c_uint64),
    ]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libhone_runtime.so"))
    model, index = ctypes.c_void_p, ctypes.c_uint32
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "hone_last_error": (ctypes.c_char_p, []),
        "hone_version": (ctypes.c_char_p, []),
        "hone_open_on": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, index, ctypes.POINTER(model)]),
        "hone_close": (None, [model]),
        "hone_target": (ctypes.c_char_p, [model]),
        "hone_threads": (ctypes.c_int, [model]),
        "hone_input_count": (index, [model]),
        "hone_output_count": (index, [model]),
        "hone_input_info": (ctypes.c_int, [model, index, ctypes.POINTER(_Info)]),
        "hone_output_info": (ctypes.c_int, [model, index, ctypes.POINTER(_Info)]),
        "hone_specialisation_count": (index, [model]),
        "hone_specialisation": (index, [model]),
        "hone_specialisation_input_info": (ctypes.c_int, [model, index, index, ctypes.POINTER(_Info)]),
        "hone_choose_specialisation": (ctypes.c_int, [model, index]),
        "hone_choose_shape": (ctypes.c_int, [model, index, index, ctypes.POINTER(ctypes.c_int64)]),
        "hone_set_input": (ctypes.c_int, [model, index, ctypes.c_void_p, ctypes.c_uint64]),
        "hone_set_input_dlpack": (ctypes.c_int, [model, index, ctypes.POINTER(device_tensor.DlTensor)]),
        "hone_device_output_dlpack": (ctypes.c_int, [model, index, ctypes.POINTER(ctypes.POINTER(device_tensor.ManagedTensor))]),
        "hone_run": (ctypes.c_int, [model]),
        "hone_output": (ctypes.c_void_p, [model, index]),
        "hone_time": (ctypes.c_int, [model, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]),
        "hone_call_count": (index, [model]),
        "hone_call_kernel": (ctypes.c_int, [model, index, ctypes.POINTER(_KernelInfo)]),
        "hone_profile": (ctypes.c_int, [model, ctypes.c_int, ctypes.POINTER(ctypes.c_double)]),
        "hone_time_call": (ctypes.c_int, [model, index, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]),
        "hone_time_executor": (ctypes.c_int, [model, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
_COPY_PARAMETERS = 1  # HONE_OPEN_COPY_PARAMETERS
_MODEL_ENDINGS = (".onnx", ".pb", ".relay")


def version() -> str:
    """The version of the runtime, which is that of the whole of Hone."""
    text: bytes = _library.hone_version()
    return text.decode()


def _path_bytes(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """As the system has it."""
    encoded = path_of(path, "a compiled module")
    if os.fsdecode(encoded).endswith(_MODEL_ENDINGS):
        raise Error(f"expected a compiled module, found the model {path!r}; hone.build compiles and opens it")
    return encoded


def _device_bytes(device: str | None) -> bytes | None:
    if device is None or isinstance(device, str):
        return None if device is None else device.encode(errors="replace")
    raise Error(f'expected a device such as "opencl:0", found {device!r}')


def _check(code: int) -> None:
    if code:
        raise Error(_library.hone_last_error().decode(errors="replace"))


_SHOWN = 8


def elided(texts: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = [f"... {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *more])


def _type_text(dtype: object, shape: tuple[int, ...]) -> str:
    return f"{dtype}{list(shape)}"


class Module:
    """One compiled model with its memory and its threads. Threads of Python take turns at it."""

    def __init__(
        self,
        path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
        threads: int = 0,
        copy_parameters: bool = False,
        device: str | None = None,
    ) -> None:
        """Opens what `hone compile` wrote; threads 0 means as many as it was compiled for.

        Parameters are mapped, one copy for all processes; copy_parameters takes a copy in huge
        pages, which is faster where they are large. The device is "cpu" or "opencl:0", say; None
        means the first of the kind that the module was compiled for.
        """
        self._model = ctypes.c_void_p()
        # The runtime's models are used by one thread at a time. A method may call another one that takes turns.
        self._turn = threading.RLock()
        flags = _COPY_PARAMETERS if copy_parameters else 0
        _check(_library.hone_open_on(_path_bytes(path), _device_bytes(device), threads_of(threads), flags, ctypes.byref(self._model)))
        self.specialisations = [
            self._infos(_library.hone_input_count, self._describe_in(number))[0]
            for number in range(_library.hone_specialisation_count(self._model))
        ]
        """The inputs of each, by number: the shapes that the module was compiled for."""
        self._look()

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            _library.hone_close(self._model)

    def __reduce__(self) -> NoReturn:
        """copy and pickle would have two objects free one model."""
        raise Error("expected a hone.Module to be used where it was opened, found a copy; open it again by hone.Module(path)")

    def __repr__(self) -> str:
        def texts(infos: list[TensorInfo], names: list[str]) -> str:
            pairs = zip(infos, names, strict=True)
            return elided([f"{info.name}: {_type_text(name, info.shape)}" for info, name in pairs])

        more = f", {len(self.specialisations)} specialisations" if len(self.specialisations) > 1 else ""
        with self._turn:
            inputs, outputs = texts(self.inputs, self._input_types), texts(self.outputs, self._output_types)
        return f"<hone.Module ({inputs}) -> ({outputs}), threads={self.threads}{more}>"

    @property
    def threads(self) -> int:
        return int(_library.hone_threads(self._model))

    @property
    def target(self) -> str:
        """What the module was compiled for, as `hone explain` has it."""
        text: bytes = _library.hone_target(self._model)
        return text.decode()

    @property
    def specialisation(self) -> int:
        """The number of the one that is chosen."""
        return int(_library.hone_specialisation(self._model))

    def choose(self, specialisation: int) -> None:
        """By its number; set_input chooses by shape."""
        count = len(self.specialisations)
        number = integer(specialisation, f"a specialisation below {count}", 0, count - 1)
        with self._turn:
            _check(_library.hone_choose_specialisation(self._model, number))
            self._look()

    def _look(self) -> None:
        self._has_run = False
        self.inputs, self._input_types = self._infos(_library.hone_input_count, _library.hone_input_info)
        self.outputs, self._output_types = self._infos(_library.hone_output_count, _library.hone_output_info)

    def _look_again(self) -> None:
        """The runtime may have chosen another specialisation; what was run of the present one stays."""
        if len(self.specialisations) > 1:
            self._look()

    def _describe_in(self, number: int) -> Any:
        return lambda model, index, info: _library.hone_specialisation_input_info(model, number, index, info)

    def _infos(self, count: Any, describe: Any) -> tuple[list[TensorInfo], list[str]]:
        """With the runtime's names of the element types."""
        infos, types = [], []
        for index in range(count(self._model)):
            info = _Info()
            _check(describe(self._model, index, ctypes.byref(info)))
            types.append(info.dtype.decode())
            shape = tuple(info.shape[axis] for axis in range(info.rank))
            infos.append(TensorInfo(info.name.decode(), shape, dtype_of(types[-1])))
        return infos, types

    def set_input(self, name: str | int, array: npt.ArrayLike) -> None:
        """Copies an array of the input's dtype and one of its shapes, which chooses the specialisation. `name`: or its
        number. A tensor on the module's own GPU, by DLPack or __cuda_array_interface__, is copied within it."""
        with self._turn:
            index = _index_of(name, self.inputs, "input")
            if device_tensor.is_on_gpu(array):
                view, _kept = device_tensor.view_of(array)
                _check(_library.hone_set_input_dlpack(self._model, index, ctypes.byref(view)))
                self._look_again()
                return
            info, type_name = self.inputs[index], self._input_types[index]
            found = np.asarray(array)
            fits = holds(found.dtype, type_name)
            if found.shape != info.shape and fits and len(self.specialisations) > 1:
                extents = (ctypes.c_int64 * found.ndim)(*found.shape)
                _check(_library.hone_choose_shape(self._model, index, found.ndim, extents))
                self._look()
                info = self.inputs[index]
            if found.shape != info.shape or not fits:
                raise Error(
                    f"expected {_type_text(type_name, info.shape)} for input {info.name!r}, "
                    f"found {_type_text(found.dtype, found.shape)}; "
                    + _way_out(found, [inputs[index].shape for inputs in self.specialisations], type_name)
                )
            data = native(found)
            _check(_library.hone_set_input(self._model, index, data.ctypes.data, data.nbytes))

    @overload
    def run(self, inputs: None = None) -> None: ...

    @overload
    def run(self, inputs: Mapping[str, npt.ArrayLike]) -> list[npt.NDArray[Any]]: ...

    def run(self, inputs: Mapping[str, npt.ArrayLike] | None = None) -> list[npt.NDArray[Any]] | None:
        """Runs once. With `inputs`, by name, it sets these first and returns copies of all outputs, in the order of
        `outputs`, before another thread's turn; without, get_output gives them."""
        with self._turn:
            for name, array in items_of(inputs, "inputs as {name: array}"):
                self.set_input(name, array)
            _check(_library.hone_run(self._model))
            self._has_run = True
            return None if inputs is None else [self.get_output(index) for index in range(len(self.outputs))]

    def get_output(self, name: str | int) -> npt.NDArray[Any]:
        """A copy of an output of the last run, by its name or number."""
        with self._turn:
            index = _index_of(name, self.outputs, "output")
            if not self._has_run:
                raise Error(f"expected a run before output {self.outputs[index].name!r} is read, found none; call run first")
            info = self.outputs[index]
            count = int(np.prod(info.shape, dtype=np.int64))
            if count == 0:
                return np.empty(info.shape, info.dtype)
            pointer = _library.hone_output(self._model, index)
            block = (ctypes.c_uint8 * (count * info.dtype.itemsize)).from_address(pointer)
            return np.frombuffer(memoryview(block), dtype=info.dtype, count=count).reshape(info.shape).copy()

    def get_device_output(self, name: str | int) -> device_tensor.DeviceTensor:
        """An output of the last run where it lies, on the CPU or a GPU, without a copy: an object with __dlpack__ and, on a
        GPU, __cuda_array_interface__. The next run overwrites it."""
        with self._turn:
            index = _index_of(name, self.outputs, "output")
            info = self.outputs[index]
            if not self._has_run:
                raise Error(f"expected a run before output {info.name!r} is read, found none; call run first")
            managed = ctypes.POINTER(device_tensor.ManagedTensor)()
            _check(_library.hone_device_output_dlpack(self._model, index, ctypes.byref(managed)))
            typestr = None if self._output_types[index] == "bfloat16" else info.dtype.str
            return device_tensor.DeviceTensor(managed.contents.tensor, _Output(self, managed), info.dtype, typestr)

    def time(self, runs: int) -> float:
        """Seconds of `runs` back-to-back runs, the loop in C++."""
        seconds, count = ctypes.c_double(), runs_of(runs)
        with self._turn:
            _check(_library.hone_time(self._model, count, ctypes.byref(seconds)))
            self._has_run = True
        return seconds.value

    @property
    def calls(self) -> list[CallInfo]:
        """The calls of kernels that a run makes, in order."""
        calls = []
        with self._turn:
            for number in range(_library.hone_call_count(self._model)):
                info = _KernelInfo()
                _check(_library.hone_call_kernel(self._model, number, ctypes.byref(info)))
                name, workload, config, tier = (t.decode() for t in (info.name, info.workload, info.config, info.tier))
                calls.append(CallInfo(name, workload, config, tier, info.flops))
        return calls

    def profile(self, runs: int) -> list[float]:
        """Seconds of each call where it stands in the model, the median of `runs` runs."""
        count = runs_of(runs, MAX_INT32)
        with self._turn:
            nanoseconds = (ctypes.c_double * _library.hone_call_count(self._model))()
            _check(_library.hone_profile(self._model, count, nanoseconds))
            self._has_run = True
        return [ns * 1e-9 for ns in nanoseconds]

    def time_call(self, number: int, runs: int) -> float:
        """Seconds of `runs` back-to-back runs of one call alone, the loop in C++."""
        seconds, count = ctypes.c_double(), runs_of(runs)
        with self._turn:
            calls = _library.hone_call_count(self._model)
            call = integer(number, f"a call below {calls}", 0, calls - 1)
            _check(_library.hone_time_call(self._model, call, count, ctypes.byref(seconds)))
        return seconds.value

    def time_executor(self, runs: int) -> float:
        """Seconds of `runs` back-to-back runs in which no kernel does anything: launches and barriers alone."""
        seconds, count = ctypes.c_double(), runs_of(runs)
        with self._turn:
            _check(_library.hone_time_executor(self._model, count, ctypes.byref(seconds)))
        return seconds.value


class _Output:
    """The runtime's view of an output, which ends with this; keeps the module."""

    def __init__(self, module: Module, managed: Any) -> None:
        self._module, self._managed = module, managed

    def __del__(self) -> None:
        self._managed.contents.deleter(ctypes.addressof(self._managed.contents))


def _index_of(name: str | int, infos: list[TensorInfo], what: str) -> int:
    names = [info.name for info in infos]
    shown = f"[{elided([repr(each) for each in names])}]"
    if isinstance(name, str):
        if name not in names:
            raise Error(f"expected an {what} of {shown}, found {name!r}")
        return names.index(name)
    return integer(name, f"an {what} below {len(names)}, or one of {shown}", 0, len(names) - 1)


def _way_out(found: npt.NDArray[Any], shapes: list[tuple[int, ...]], type_name: str) -> str:
    """What makes an array fit that does not; `shapes` are those that the module was compiled for."""
    ways = []
    if not holds(found.dtype, type_name):
        ways.append(_conversion(type_name))
    if found.shape not in shapes:
        same_size = [shape for shape in shapes if found.size == np.prod(shape, dtype=np.int64)]
        ways.append(
            f"reshape it by .reshape({same_size[0]})"
            if same_size
            else "give it that shape, or compile the model for the other"
        )
    return " and ".join(ways)


def _conversion(type_name: str) -> str:
    if type_name != "bfloat16":
        return f"convert it by .astype({type_name!r})"
    if dtype_of(type_name) == np.uint16:
        return "install ml_dtypes and convert it by .astype(ml_dtypes.bfloat16), or give its bits as uint16"
    return "convert it by .astype(ml_dtypes.bfloat16)"
