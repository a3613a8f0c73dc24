"""Python's operators on the symbols of a kernel: what each of them is in the op table.

A symbol adds an operation to the graph where a number would compute (Arithmetic); an image, which is no
number, says so (NoNumber).
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from dala.errors import KernelError

Operand = TypeVar("Operand", contravariant=True)
Value = TypeVar("Value", covariant=True)


class DomainMismatch(KernelError):
    """An image was used as a tensor or the other way round."""


class Arithmetic(Generic[Operand, Value]):
    """What Python's operators do; those that need a number known now cannot do anything.

    Scalar says how an operation is added. (Not an ABC: every operation asks what its operands are, and
    ``isinstance`` takes four times as long with one.)
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars on the left defer to our operators

    def _unary(self, op: str) -> Value:
        """An operation of the table on this symbol."""
        raise AssertionError("Scalar and Vec say how")

    def _binary(self, op: str, other: Operand) -> Value:
        """An operation on this symbol and another operand."""
        raise AssertionError("Scalar and Vec say how")

    def _swapped(self, op: str, other: Operand) -> Value:
        """An operation on another operand and this symbol."""
        raise AssertionError("Scalar and Vec say how")

    def __add__(self, other: Operand) -> Value:
        return self._binary("add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._swapped("add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._binary("sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._swapped("sub", other)

    def __mul__(self, other: Operand) -> Value:
        return self._binary("mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._swapped("mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary("div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._swapped("div", other)

    def __floordiv__(self, other: Operand) -> Value:
        return self._binary("floordiv", other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return self._swapped("floordiv", other)

    def __mod__(self, other: Operand) -> Value:
        return self._binary("mod", other)

    def __rmod__(self, other: Operand) -> Value:
        return self._swapped("mod", other)

    def __pow__(self, other: Operand) -> Value:
        return self._binary("pow", other)

    def __rpow__(self, other: Operand) -> Value:
        return self._swapped("pow", other)

    def __and__(self, other: Operand) -> Value:
        return self._binary("and", other)

    def __rand__(self, other: Operand) -> Value:
        return self._swapped("and", other)

    def __or__(self, other: Operand) -> Value:
        return self._binary("or", other)

    def __ror__(self, other: Operand) -> Value:
        return self._swapped("or", other)

    def __xor__(self, other: Operand) -> Value:
        return self._binary("xor", other)

    def __rxor__(self, other: Operand) -> Value:
        return self._swapped("xor", other)

    def __lshift__(self, other: Operand) -> Value:
        return self._binary("shl", other)

    def __rlshift__(self, other: Operand) -> Value:
        return self._swapped("shl", other)

    def __rshift__(self, other: Operand) -> Value:
        return self._binary("shr", other)

    def __rrshift__(self, other: Operand) -> Value:
        return self._swapped("shr", other)

    def __neg__(self) -> Value:
        return self._unary("neg")

    def __abs__(self) -> Value:
        return self._unary("abs")

    def __invert__(self) -> Value:
        return self._unary("not")

    def __lt__(self, other: Operand) -> Value:
        return self._binary("lt", other)

    def __le__(self, other: Operand) -> Value:
        return self._binary("le", other)

    def __gt__(self, other: Operand) -> Value:
        return self._binary("gt", other)

    def __ge__(self, other: Operand) -> Value:
        return self._binary("ge", other)

    def __floor__(self) -> Value:
        return self._unary("floor")

    def __ceil__(self) -> Value:
        return self._unary("ceil")

    def __round__(self) -> Value:
        return self._unary("round")

    def __trunc__(self) -> Value:
        return self._unary("trunc")

    def __bool__(self) -> bool:
        raise KernelError(
            "a condition that depends on pixels or run-time parameters cannot steer `if`, `and` or "
            "`or`; use where(condition, a, b), & and |, or declare the parameter static"
        )

    def _needs_number(self) -> int:
        raise KernelError(
            "a number known while tracing is needed here, but this value is only known at run time; "
            "declare the parameter static, or use the kernel language's own function"
        )

    __index__ = _needs_number
    __int__ = _needs_number

    def __float__(self) -> float:
        return self._needs_number()


class NoNumber:
    """Refuses whatever Python would do with a number."""

    __array_ufunc__ = None

    def _is_no_number(self, *_: object) -> Any:
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _is_no_number
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _is_no_number
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _is_no_number
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _is_no_number
    __neg__ = __pos__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _is_no_number
    __eq__ = __ne__ = __round__ = __floor__ = __ceil__ = __iter__ = _is_no_number
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise DomainMismatch("an image is not a number; read a pixel of it with src[0, 0]")
