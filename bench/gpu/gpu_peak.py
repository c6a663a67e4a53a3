"""What a GPU can do: a loop of multiply-adds and a copy within its memory, by CUDA's driver alone."""

from __future__ import annotations

import ctypes
import time
from typing import Any

LANES = 16  # independent sums of a thread
MOST_TRIPS = 1 << 14
THREADS = 256
COPY_BYTES = 512 << 20
LEAST_S = 0.02
LEAST_LAUNCH_S = 2e-3


def ptx() -> str:
    registers = range(1, LANES + 1)
    chains = [f"fma.rn.f32 %f{i}, %f{i}, %f0, %f0;" for i in registers] * 4
    first = [f"mov.f32 %f{i}, 0f3F000000;" for i in range(LANES + 1)]
    sums = [f"add.rn.f32 %f0, %f0, %f{i};" for i in registers]
    return "\n".join(
        [
            ".version 7.0",
            ".target sm_70",
            ".address_size 64",
            ".visible .entry chains(.param .u64 out, .param .u64 trips) {",
            f".reg .f32 %f<{LANES + 1}>; .reg .b64 %rd<4>; .reg .pred %p<2>;",
            "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [trips];",
            *first,
            "$L_loop:",
            *chains,
            "sub.s64 %rd2, %rd2, 1;",
            "setp.ne.s64 %p1, %rd2, 0;",
            "@%p1 bra $L_loop;",
            *sums,
            "st.global.f32 [%rd1], %f0;",
            "ret;",
            "}",
        ]
    )


class Driver:
    """The device's primary context, made current."""

    def __init__(self, number: int) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), number)
        self._device = device
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.call("cuCtxPushCurrent_v2", self._context)
        self.multiprocessors = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(self.multiprocessors), 16, device)

    def call(self, name: str, *arguments: Any) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            raise OSError(f"expected {name} to succeed, found CUDA's error {result}")

    def close(self) -> None:
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        self.call("cuDevicePrimaryCtxRelease_v2", self._device)

    def allocate(self, size_bytes: int) -> ctypes.c_uint64:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size_bytes))
        return address

    def seconds(self, work: Any) -> float:
        """Of one of many; the least of three times."""
        work()
        self.call("cuStreamSynchronize", None)
        times, count = [], 1
        while len(times) < 3:
            started = time.perf_counter()
            for _ in range(count):
                work()
            self.call("cuStreamSynchronize", None)
            taken = time.perf_counter() - started
            if taken < LEAST_S:
                count *= 2
            else:
                times.append(taken / count)
        return min(times)


def measured(name: str) -> dict[str, float]:
    """fma_gflops and copy_gbs (read and written) of a device of CUDA; nothing of others, or where the driver refuses."""
    if not name.startswith("cuda:"):
        return {}
    try:
        driver = Driver(int(name.removeprefix("cuda:")))
        try:
            return {"fma_gflops": _fma_gflops(driver), "copy_gbs": _copy_gbs(driver)}
        finally:
            driver.close()
    except (OSError, AttributeError):
        return {}


def _fma_gflops(driver: Driver) -> float:
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    code = ptx().encode() + b"\0"
    driver.call("cuModuleLoadDataEx", ctypes.byref(module), code, 0, None, None)
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"chains")
    out, count = driver.allocate(4), ctypes.c_uint64(1)
    parameters = (ctypes.c_void_p * 2)(ctypes.addressof(out), ctypes.addressof(count))
    blocks = 8 * driver.multiprocessors.value

    def launch() -> None:
        driver.call("cuLaunchKernel", function, blocks, 1, 1, THREADS, 1, 1, 0, None, parameters, None)

    try:
        while (seconds := driver.seconds(launch)) < LEAST_LAUNCH_S and count.value < MOST_TRIPS:
            count.value *= 4  # launches themselves take microseconds
    finally:
        driver.call("cuMemFree_v2", out)
        driver.call("cuModuleUnload", module)
    return 2.0 * 4 * LANES * count.value * THREADS * blocks / seconds * 1e-9


def _copy_gbs(driver: Driver) -> float:
    source, target = driver.allocate(COPY_BYTES), driver.allocate(COPY_BYTES)
    try:
        seconds = driver.seconds(lambda: driver.call("cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(COPY_BYTES), None))
    finally:
        driver.call("cuMemFree_v2", source)
        driver.call("cuMemFree_v2", target)
    return 2.0 * COPY_BYTES / seconds * 1e-9
