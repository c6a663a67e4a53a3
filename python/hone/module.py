"""A compiled model: ctypes over the runtime's C API (runtime/c_api.h)."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


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
        "hone_open_with": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_int, index, ctypes.POINTER(model)]),
        "hone_close": (None, [model]),
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
_MAX_THREADS = 1024

# numpy has no bfloat16: its bytes come as uint16.
_DTYPES = {"bfloat16": "uint16"}


def _path_bytes(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bytes:
    """As the system has it; C would take a path with a zero byte for the part before."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"expected a path without a zero byte, found {path!r}")
    return encoded


def _check(code: int) -> None:
    if code:
        raise ValueError(_library.hone_last_error().decode(errors="replace"))


class Module:
    """One compiled model with its memory and its threads. Used by one thread at a time."""

    def __init__(
        self,
        path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
        threads: int = 0,
        copy_parameters: bool = False,
    ) -> None:
        """Opens what `hone compile` wrote; threads 0 means as many as it was compiled for.

        Parameters are mapped, one copy for all processes; copy_parameters takes a copy in huge
        pages, which is faster where they are large.
        """
        self._model = ctypes.c_void_p()
        if not 0 <= threads <= _MAX_THREADS:  # ctypes would cut a larger number off
            raise ValueError(f"expected from 1 to {_MAX_THREADS} threads, or 0, found {threads}")
        flags = _COPY_PARAMETERS if copy_parameters else 0
        _check(_library.hone_open_with(_path_bytes(path), threads, flags, ctypes.byref(self._model)))
        self.specialisations = [
            self._infos(_library.hone_input_count, self._describe_in(number))
            for number in range(_library.hone_specialisation_count(self._model))
        ]
        """The inputs of each, by number: the shapes that the module was compiled for."""
        self._look()

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            _library.hone_close(self._model)

    @property
    def threads(self) -> int:
        return int(_library.hone_threads(self._model))

    @property
    def specialisation(self) -> int:
        """The number of the one that is chosen."""
        return int(_library.hone_specialisation(self._model))

    def choose(self, specialisation: int) -> None:
        """By its number; set_input chooses by shape."""
        if not 0 <= specialisation < len(self.specialisations):
            raise ValueError(f"expected a specialisation below {len(self.specialisations)}, found {specialisation}")
        _check(_library.hone_choose_specialisation(self._model, specialisation))
        self._look()

    def _look(self) -> None:
        self.inputs = self._infos(_library.hone_input_count, _library.hone_input_info)
        self.outputs = self._infos(_library.hone_output_count, _library.hone_output_info)

    def _describe_in(self, number: int) -> Any:
        return lambda model, index, info: _library.hone_specialisation_input_info(model, number, index, info)

    def _infos(self, count: Any, describe: Any) -> list[TensorInfo]:
        infos = []
        for index in range(count(self._model)):
            info = _Info()
            _check(describe(self._model, index, ctypes.byref(info)))
            dtype = info.dtype.decode()
            shape = tuple(info.shape[axis] for axis in range(info.rank))
            infos.append(TensorInfo(info.name.decode(), shape, np.dtype(_DTYPES.get(dtype, dtype))))
        return infos

    def set_input(self, name: str, array: npt.ArrayLike) -> None:
        """Copies an array of the input's dtype and one of its shapes, which chooses the specialisation."""
        names = [info.name for info in self.inputs]
        if name not in names:
            raise ValueError(f"expected an input of {names}, found {name!r}")
        index = names.index(name)
        info = self.inputs[index]
        data = np.ascontiguousarray(array)
        # ascontiguousarray makes scalars one-dimensional.
        shape = np.shape(array)
        if shape != info.shape and data.dtype == info.dtype and len(self.specialisations) > 1:
            extents = (ctypes.c_int64 * len(shape))(*shape)
            _check(_library.hone_choose_shape(self._model, index, len(shape), extents))
            self._look()
            info = self.inputs[index]
        if shape != info.shape or data.dtype != info.dtype:
            raise ValueError(
                f"expected {info.dtype}{list(info.shape)} for input {name!r}, found {data.dtype}{list(shape)}"
            )
        _check(_library.hone_set_input(self._model, index, data.ctypes.data, data.nbytes))

    def run(self) -> None:
        _check(_library.hone_run(self._model))

    def get_output(self, index: int) -> npt.NDArray[Any]:
        """A copy of an output of the last run."""
        if not 0 <= index < len(self.outputs):
            raise ValueError(f"expected an output below {len(self.outputs)}, found {index}")
        info = self.outputs[index]
        count = int(np.prod(info.shape, dtype=np.int64))
        if count == 0:
            return np.empty(info.shape, info.dtype)
        pointer = _library.hone_output(self._model, index)
        block = (ctypes.c_uint8 * (count * info.dtype.itemsize)).from_address(pointer)
        return np.frombuffer(memoryview(block), dtype=info.dtype, count=count).reshape(info.shape).copy()

    def time(self, runs: int) -> float:
        """Seconds of `runs` back-to-back runs, the loop in C++."""
        seconds = ctypes.c_double()
        _check(_library.hone_time(self._model, runs, ctypes.byref(seconds)))
        return seconds.value

    @property
    def calls(self) -> list[CallInfo]:
        """The calls of kernels that a run makes, in order."""
        calls = []
        for number in range(_library.hone_call_count(self._model)):
            info = _KernelInfo()
            _check(_library.hone_call_kernel(self._model, number, ctypes.byref(info)))
            name, workload, config, tier = (t.decode() for t in (info.name, info.workload, info.config, info.tier))
            calls.append(CallInfo(name, workload, config, tier, info.flops))
        return calls

    def profile(self, runs: int) -> list[float]:
        """Seconds of each call where it stands in the model, the median of `runs` runs."""
        nanoseconds = (ctypes.c_double * _library.hone_call_count(self._model))()
        _check(_library.hone_profile(self._model, runs, nanoseconds))
        return [ns * 1e-9 for ns in nanoseconds]

    def time_call(self, number: int, runs: int) -> float:
        """Seconds of `runs` back-to-back runs of one call alone, the loop in C++."""
        if not 0 <= number < _library.hone_call_count(self._model):
            raise ValueError(f"expected a call below {_library.hone_call_count(self._model)}, found {number}")
        seconds = ctypes.c_double()
        _check(_library.hone_time_call(self._model, number, runs, ctypes.byref(seconds)))
        return seconds.value

    def time_executor(self, runs: int) -> float:
        """Seconds of `runs` back-to-back runs in which no kernel does anything: launches and barriers alone."""
        seconds = ctypes.c_double()
        _check(_library.hone_time_executor(self._model, runs, ctypes.byref(seconds)))
        return seconds.value
