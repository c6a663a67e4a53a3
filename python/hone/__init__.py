"""Hone: run compiled models from Python."""

from hone.module import Module, TensorInfo

__all__ = ["Module", "TensorInfo"]
