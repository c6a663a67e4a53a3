"""Tensors in a GPU's memory: those of other libraries, and outputs of models."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

from hone.errors import Error

CPU, CUDA = 1, 2  # DLPack's device types
LEGACY_STREAM = 1  # which the runtime waits for before it copies
_NAME = b"dltensor"
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}  # typestr of __cuda_array_interface__ to DLPack's


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DlTensor(ctypes.Structure):
    """DLTensor of version 0.8."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ManagedTensor(ctypes.Structure):
    """DLManagedTensor of version 0.8."""

    _fields_ = [("tensor", DlTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def is_on_gpu(array: object) -> bool:
    if hasattr(array, "__dlpack_device__"):
        return bool(array.__dlpack_device__()[0] == CUDA)
    return hasattr(array, "__cuda_array_interface__")


def view_of(array: Any) -> tuple[DlTensor, object]:
    """A description of a tensor on a GPU, and what keeps it valid."""
    if hasattr(array, "__dlpack__"):
        capsule = array.__dlpack__(stream=LEGACY_STREAM)
        managed = ctypes.cast(_get_pointer(capsule, _NAME), ctypes.POINTER(ManagedTensor))
        return managed.contents.tensor, capsule  # an unused capsule frees the tensor itself
    return _view_of_interface(array.__cuda_array_interface__)


def _view_of_interface(interface: dict[str, Any]) -> tuple[DlTensor, object]:
    kind, itemsize = interface["typestr"][1], int(interface["typestr"][2:])
    if kind not in _CODES or interface["typestr"][0] == ">":
        raise Error(f"expected numbers in __cuda_array_interface__, found the type {interface['typestr']!r}; give the tensor by DLPack")
    shape = tuple(interface["shape"])
    extents = (ctypes.c_int64 * len(shape))(*shape)
    tensor = DlTensor(interface["data"][0], _Device(CUDA, 0), len(shape), _Type(_CODES[kind], 8 * itemsize, 1), extents)
    strides = None
    if interface.get("strides") is not None:
        strides = (ctypes.c_int64 * len(shape))(*(stride // itemsize for stride in interface["strides"]))
        tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    return tensor, (extents, strides)


# Exports that a consumer holds, by number: what they consist of.
_exports: dict[int, tuple[Any, ...]] = {}
_numbers = itertools.count(1)


@_Deleter
def _delete(address: int) -> None:
    managed = ctypes.cast(address, ctypes.POINTER(ManagedTensor)).contents
    _exports.pop(managed.context or 0, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    """Destroys a capsule; one that nobody took still has its first name."""
    is_valid, get_pointer = _untyped("PyCapsule_IsValid", ctypes.c_int), _untyped("PyCapsule_GetPointer", ctypes.c_void_p)
    if is_valid(capsule, _NAME):
        _delete(get_pointer(capsule, _NAME))


def _untyped(name: str, result: Any) -> Callable[..., Any]:
    """For objects that are being destroyed, which must not be counted."""
    prototype = ctypes.PYFUNCTYPE(result, ctypes.c_void_p, ctypes.c_char_p)
    function: Callable[..., Any] = prototype((name, ctypes.pythonapi))
    return function


class DeviceTensor:
    """An output where it lies: torch.from_dlpack(tensor), cupy.asarray(tensor). The model's next run overwrites it; the model
    lives as long as it does."""

    def __init__(self, view: DlTensor, owner: object, dtype: Any, typestr: str | None) -> None:
        self._view, self._owner, self._typestr = view, owner, typestr
        self.shape: tuple[int, ...] = tuple(view.shape[axis] for axis in range(view.ndim))
        self.dtype = dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return int(self._view.device.type), int(self._view.device.id)

    def __dlpack__(self, **_: Any) -> Any:
        """Whatever stream the consumer names: a run has ended when it returns. Of version 0.8, which every consumer reads."""
        number = next(_numbers)
        extents = (ctypes.c_int64 * len(self.shape))(*self.shape)
        tensor = DlTensor(self._view.data, self._view.device, self._view.ndim, self._view.dtype, extents)
        managed = ManagedTensor(tensor, number, _delete)
        _exports[number] = (managed, extents, self)
        return _new_capsule(ctypes.addressof(managed), _NAME, ctypes.cast(_drop, ctypes.c_void_p))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._typestr is None or self._view.device.type != CUDA:
            raise AttributeError("no __cuda_array_interface__ of bfloat16, nor on the CPU; take it by DLPack")
        data = (self._view.data or 0, False)
        return {"shape": self.shape, "typestr": self._typestr, "data": data, "strides": None, "stream": None, "version": 3}
