"""``@dala.kernel`` and ``register``: how a user's function or text becomes a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from dala.errors import KernelError
from dala.ir.graph import Domain
from dala.language.kernel import Kernel, make_kernel
from dala.language.parameter import Param
from dala.language.registry import add_custom, is_builtin, remove_custom


def register(
    name: str,
    source: Callable[..., object] | str | Kernel,
    inputs: int | None = None,
    params: Sequence[Param | str] = (),
    *,
    domain: Domain | None = None,
) -> Kernel:
    """Register a kernel under a name, from a function or from text (which is parsed, never executed).

    Arguments without a default and annotation are inputs; ``inputs`` says how many, if that is not
    clear. ``params`` may declare ranges and help for the parameters. A user's kernel of the same
    name is replaced; the catalogue's names are taken.

    >>> from dala import compute
    >>> k = compute.register("double", "def double(a, factor: float = 2.0):\\n    return a * factor")
    >>> a = compute.buffer([1.0, 2.0])
    >>> compute.run_kernel("double", [a], a)
    >>> compute.read_list(a)
    [2.0, 4.0]
    """
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise KernelError(f"a kernel's name must be an identifier, got {name!r}")
    if is_builtin(name):
        raise KernelError(f"{name!r} is a built-in kernel; register yours under another name")
    if isinstance(source, Kernel):
        made = source
    else:
        made = make_kernel(source, name=name, inputs=inputs, params=params, domain=domain)
    add_custom(name, made)
    return made


def unregister(name: str) -> None:
    """Forget a registered kernel.

    >>> from dala import compute
    >>> _ = compute.register("gone", "def gone(a): return a + 1")
    >>> compute.unregister("gone")
    >>> "gone" in compute.kernels()
    False
    """
    remove_custom(name)


class _KernelDecorator:
    """Make a kernel of a function: ``@dala.kernel`` or ``@dala.kernel(name=…, domain=…)``.

    The kernel can be run as itself or by its name. If the catalogue owns that name, the name keeps
    meaning the catalogue's kernel.

    >>> import dala
    >>> @dala.kernel
    ... def posterize(src, levels: float = 4.0):
    ...     p = src[0, 0]
    ...     return (floor(p.rgb * levels) / levels).with_alpha(p.a)
    >>> posterize.params[0].default
    4.0
    """

    register = staticmethod(register)

    @overload
    def __call__(self, function: Callable[..., object], /) -> Kernel: ...

    @overload
    def __call__(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        inputs: int | None = None,
        params: Sequence[Param | str] = (),
        domain: Domain | None = None,
    ) -> Callable[[Callable[..., object]], Kernel]: ...

    def __call__(
        self,
        function: Callable[..., object] | None = None,
        /,
        *,
        name: str | None = None,
        inputs: int | None = None,
        params: Sequence[Param | str] = (),
        domain: Domain | None = None,
    ) -> Kernel | Callable[[Callable[..., object]], Kernel]:
        def enter(target: Callable[..., object]) -> Kernel:
            made = make_kernel(target, name=name, inputs=inputs, params=params, domain=domain)
            if not is_builtin(made.name):
                add_custom(made.name, made)
            return made

        return enter if function is None else enter(function)


kernel = _KernelDecorator()
