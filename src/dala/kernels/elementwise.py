"""Arithmetic and activations on tensors, in the buffers' own dtype. Integers wrap."""

from __future__ import annotations

from dala.kernels.declare import builtin
from dala.language import vocabulary as v
from dala.language.parameter import param
from dala.language.values import Scalar, Tensor, Value


@builtin("tensor")
def elementwise_add(a: Tensor, b: Tensor) -> Value:
    """a + b."""
    return a + b


@builtin("tensor")
def elementwise_sub(a: Tensor, b: Tensor) -> Value:
    """a - b."""
    return a - b


@builtin("tensor")
def elementwise_mul(a: Tensor, b: Tensor) -> Value:
    """a · b."""
    return a * b


@builtin("tensor")
def elementwise_div(a: Tensor, b: Tensor) -> Value:
    """a / b; integers divide downwards (floor), and by zero give 0."""
    return a // b if a.is_integer else a / b


@builtin("tensor")
def scalar_mul(a: Tensor, scalar: float = param(finite=False, help="The factor.")) -> Value:
    """a · scalar."""
    return a * scalar


@builtin("tensor")
def scalar_add(a: Tensor, scalar: float = param(finite=False, help="The summand.")) -> Value:
    """a + scalar."""
    return a + scalar


@builtin("tensor")
def relu(a: Tensor, slope: float = param(0.0, help="The factor below zero (leaky ReLU).")) -> Value:
    """a above zero, slope · a below; NaN stays NaN."""
    below = v.where(_symbol(slope) == 0, 0, a * slope)  # not a * 0: that is -0.0, and NaN for -inf
    return v.where(a > 0, a, v.where(a < 0, below, a))


@builtin("tensor")
def sigmoid(a: Tensor) -> Value:
    """1 / (1 + e⁻ᵃ)."""
    return 1.0 / (1.0 + v.exp(-a))


@builtin("tensor")
def tanh(a: Tensor) -> Value:
    """The hyperbolic tangent."""
    return v.tanh(a)


@builtin("tensor")
def exp(a: Tensor) -> Value:
    """e to the power of a."""
    return v.exp(a)


@builtin("tensor")
def log(a: Tensor) -> Value:
    """The natural logarithm; -inf at 0, NaN below."""
    return v.log(a)


@builtin("tensor")
def sqrt(a: Tensor) -> Value:
    """The square root; NaN below 0."""
    return v.sqrt(a)


@builtin("tensor")
def abs(a: Tensor) -> Value:
    """The value without its sign."""
    return v.abs(a)


@builtin("tensor")
def clip(
    a: Tensor,
    min: float = param(0.0, finite=False, help="The lower bound."),
    max: float = param(1.0, finite=False, help="The upper bound."),
) -> Value:
    """a kept within min..max; NaN stays NaN."""
    low, high = _symbol(min), _symbol(max)
    return v.where(a < low, low, v.where(a > high, high, a))


def _symbol(value: object) -> Scalar:
    assert isinstance(value, Scalar)  # parameters are symbols while a kernel is traced
    return value
