"""A surface: what a user draws on, and looks at."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from dala.backends.base import Device, Storage
from dala.backends.copying import copy_array
from dala.backends.host import HostArray, spare
from dala.closing import Closing
from dala.compute.buffers import Buffer
from dala.compute.commands import submit_command
from dala.compute.default import default_engine
from dala.compute.default import device as find_device
from dala.errors import ArgumentError, ParameterError, ShapeError, SurfaceDestroyedError
from dala.gpu import command
from dala.gpu.canvas import no_compute
from dala.gpu.check import check_commands
from dala.gpu.computing import Computing, canvas_on
from dala.gpu.decode import as_bytes
from dala.gpu.display import Handler, show_surface
from dala.gpu.drawing import Recorder
from dala.gpu.frame import Frame
from dala.gpu.limits import check_size
from dala.gpu.picture_file import encode_png, save_picture
from dala.gpu.pixels import Pixels, as_pixel_array
from dala.gpu.receipt import Receipt
from dala.gpu.renderer import Renderer
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8

if TYPE_CHECKING:
    from dala.gpu.gamepads import Gamepad
    from dala.gpu.window import Window

Array = npt.NDArray[np.uint8]
OnFrame = Callable[["Surface", float], object]  # the surface, and seconds
_numbers = itertools.count(1)


def _nothing() -> None:
    """The work of a command that only waits for others."""


def _refuse(name: str, data: bytes) -> None:
    """What a destroyed surface does with a command."""
    raise SurfaceDestroyedError(f"{name} has been destroyed")


class Surface(Computing, Closing):
    """Pixels to draw on: RGBA, straight alpha, with a render thread of its own.

    Calls are queued and return at once; ``present`` shows what was drawn so far, and that stays as the
    start of the next frame. A surface is a context manager: leaving it destroys it.

    >>> from dala import gpu
    >>> with gpu.create_surface(64, 48) as surface:
    ...     surface.clear("navy")
    ...     surface.fill_circle(32, 24, 10, "gold")
    ...     surface.present().wait()
    ...     len(surface.get_pixels())
    12288
    """

    def __init__(
        self,
        width: int,
        height: int,
        *,
        blend: Literal["over", "replace"] = "over",
        device: str | None = None,
    ) -> None:
        check_size(width, height, "create_surface")
        if blend not in ("over", "replace"):
            raise ParameterError(f"create_surface: blend is 'over' or 'replace', got {blend!r}")
        self.device: Device = default_engine().device if device is None else find_device(device)
        self._size = (int(width), int(height))
        canvas = canvas_on(
            self.device, *self._size, replace=blend == "replace", named=device is not None
        )
        self._renderer = Renderer(canvas, f"dala-surface-{next(_numbers)}")
        super().__init__(self._renderer.record)
        self._last: Receipt | None = None  # of the newest present
        self._keys: set[str] = set()
        self._gamepads: tuple[Gamepad, ...] = ()
        self._end = weakref.finalize(self, self._renderer.close, wait=False)
        self._end.atexit = False  # then the renderers are closed together, and waited for

    def __repr__(self) -> str:
        state = ", destroyed" if self.closed else ""
        return f"<dala surface {self.width} × {self.height}{state}>"

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return self._size[0]

    @property
    def height(self) -> int:
        """Rows."""
        return self._size[1]

    @property
    def keys(self) -> frozenset[str]:
        """The keys that are down in a window that shows the surface: ``"ArrowLeft"``, ``"a"``, ``" "``, …

        >>> from dala import gpu
        >>> "ArrowLeft" in gpu.create_surface(8, 8).keys
        False
        """
        return frozenset(self._keys)

    @property
    def gamepads(self) -> tuple[Gamepad, ...]:
        """Those that are connected while a window shows the surface, as they were before this frame.

        >>> from dala import gpu
        >>> [pad.axes["leftx"] for pad in gpu.create_surface(8, 8).gamepads]
        []
        """
        return self._gamepads

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._renderer.closed

    def close(self) -> None:
        """Finish what is queued, then give everything back but the frame that is shown; twice does nothing.

        >>> from dala import gpu
        >>> surface = gpu.create_surface(8, 8)
        >>> surface.close(); surface.close()
        >>> surface.closed
        True
        """
        self._record = functools.partial(_refuse, self._renderer.name)
        self._renderer.close(wait=True)
        self._end.detach()

    destroyed, destroy = closed, close

    # -- commands ----------------------------------------------------------------------------------

    def submit(self, data: bytes | bytearray | memoryview) -> Receipt:
        """Queue protocol bytes, from another process or language, say. They are checked first, and
        refused as a whole if one command is malformed.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 2) as surface:
        ...     receipt = surface.submit(bytes.fromhex("01ff0000ff 0a 00000000 00000000 01000000 01000000"))
        ...     receipt.wait()
        ...     receipt.reads[0].tolist()
        [[[255, 0, 0, 255]]]
        """
        return self._submit(as_bytes(data))

    def batch(self, commands: Iterable[bytes] | Recorder) -> Receipt:
        """Queue several commands as one that is applied whole or not at all.

        >>> from dala import gpu
        >>> from dala.gpu import command
        >>> with gpu.create_surface(8, 8) as surface:
        ...     surface.batch([command.encode_clear("red"), command.encode_present()]).wait()
        ...     surface.get_pixels()[:4]
        b'\\xff\\x00\\x00\\xff'
        """
        parts = commands.commands if isinstance(commands, Recorder) else commands
        if not isinstance(parts, Iterable):
            raise ArgumentError(
                f"batch: expected a list of commands as bytes, got {type(commands).__name__}"
            )
        return self._submit(command.encode_batch([as_bytes(p) for p in parts]))

    def _submit(self, data: bytes) -> Receipt:
        found = check_commands(data)
        if found.computes and not self.supports_compute:
            raise no_compute()
        receipt = self._renderer.submit(data, presents=found.presents)
        if found.presents:
            self._last = receipt
        if found.resizes:  # seldom; then the new size is known when this returns
            receipt.await_done()
            self._size = self._renderer.canvas.size
        return receipt

    def present(self) -> Receipt:
        """Show what was drawn so far.

        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface:
        ...     surface.present().frame, surface.present().frame
        (1, 2)
        """
        self._last = receipt = self._renderer.submit(command.encode_present(), presents=1)
        return receipt

    def resize(self, width: int, height: int) -> None:
        """Another size: the left top part stays, what is new is transparent.

        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface:
        ...     surface.resize(20, 10)
        ...     surface.width, surface.height
        (20, 10)
        """
        self._submit(command.encode_resize(width, height)).wait()

    # -- pixels ------------------------------------------------------------------------------------

    def get_pixels(self) -> bytes:
        """The last presented frame as RGBA bytes, row by row.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.clear("red"); receipt = surface.present(); surface.clear("blue")
        ...     surface.get_pixels()
        b'\\xff\\x00\\x00\\xff\\xff\\x00\\x00\\xff'
        """
        held = self._shown()  # while somebody holds a frame, it is not drawn over
        return held.host().array.tobytes()

    def _shown(self) -> Frame:
        if self._last is not None:
            self._last.await_done()
        shown = self._renderer.canvas.shown
        if shown.only_on_gpu:
            self._renderer.check_lost()
        return shown

    def _shown_view(self) -> Array:
        held = self._shown()
        view = held.host().array.view()
        view.flags.writeable = False
        return view

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        """The last presented frame, (height, width, 4): a read-only view that stays as it is."""
        view = self._shown_view()
        if dtype is not None and np.dtype(dtype) != view.dtype:  # type: ignore[call-overload]
            if copy is False:
                raise ParameterError(f"a surface is an array of u8; as {dtype} it has to be copied")
            return view.astype(np.dtype(dtype))  # type: ignore[call-overload]
        return view.copy() if copy else view

    def read_pixels(self, x: int, y: int, w: int, h: int) -> Array:
        """A region (h, w, 4) as it is after every command queued so far, presented or not;
        transparent outside of the surface.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.clear("red")
        ...     surface.read_pixels(1, 0, 2, 1).tolist()
        [[[255, 0, 0, 255], [0, 0, 0, 0]]]
        """
        check_size(w, h, "read_pixels")
        if not (hasattr(x, "__index__") and hasattr(y, "__index__")):
            raise ArgumentError(f"read_pixels: x and y are whole numbers, got {x!r}, {y!r}")
        left, top = max(-x, 0), max(-y, 0)
        if left >= w or top >= h:
            return np.zeros((h, w, 4), np.uint8)
        asked = command.encode_read_pixels(x + left, y + top, w - left, h - top)
        receipt = self._renderer.submit(asked)
        receipt.wait()
        if not left and not top:
            return receipt.reads[0]
        result = np.zeros((h, w, 4), np.uint8)
        result[top:, left:] = receipt.reads[0]
        return result

    def set_pixels(self, pixels: Pixels | Buffer) -> None:
        """Replace the whole content: RGBA bytes, an array, a PIL image, or a compute buffer.

        >>> import numpy as np
        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.set_pixels(np.full((1, 2, 4), 7, np.uint8))
        ...     surface.read_pixels(1, 0, 1, 1).tolist()
        [[[7, 7, 7, 7]]]
        """
        width, height = self._size
        if isinstance(pixels, Buffer):
            self._renderer.adopt(self._copy_of(pixels))
            return
        frame = spare.take(ArrayType((height, width, 4), U8))
        copy_array(frame.array, as_pixel_array(pixels, width, height, "set_pixels"))
        self._renderer.adopt(frame)

    def _copy_of(self, buffer: Buffer) -> Storage:
        """A buffer's content, on the GPU if the surface has the same."""
        self._check_buffer(buffer)
        shaders = self._renderer.canvas.shaders
        if shaders is None or buffer.engine.device is not shaders.device:
            frame = spare.take(buffer.type)
            buffer.read(frame.array)
            return frame
        source, target = buffer.storage(), shaders.device.allocate(buffer.type)
        submit_command(  # behind whoever writes it, before whoever overwrites it
            "show",
            functools.partial(shaders.copy, source, target),
            [buffer],
            reads=(0,),
            writes=(),
            stream=None,
            inline=True,
        )
        return target

    def take_buffer(self, buffer: Buffer) -> None:
        """Replace the whole content by a compute buffer's, which is freed. Nothing is copied if it is
        in main memory, or on the surface's own GPU."""
        self._check_buffer(buffer)
        storage, shaders = buffer.storage(), self._renderer.canvas.shaders
        submit_command(  # behind whoever writes it
            "take", _nothing, [buffer], reads=(0,), writes=(), stream=None, inline=True
        )
        shared = shaders is not None and buffer.engine.device is shaders.device
        if isinstance(storage, HostArray) or shared:
            self._renderer.adopt(storage)
        else:
            self._renderer.adopt(self._copy_of(buffer))
        buffer.close()

    def _check_buffer(self, buffer: Buffer) -> None:
        wanted = (self.height, self.width, 4)
        if buffer.shape != wanted or buffer.dtype != "u8":
            raise ShapeError(
                f"a surface of {self.width} × {self.height} takes a buffer of {wanted} u8, "
                f"got {buffer.shape} {buffer.dtype}"
            )

    def with_pixels(self, change: Callable[[Array], Array | bytes | None]) -> None:
        """Call a function with all pixels (height, width, 4) as they are drawn so far; what it
        returns, or has written into the array, becomes the content.

        >>> from dala import gpu
        >>> with gpu.create_surface(2, 1) as surface:
        ...     surface.clear("red")
        ...     surface.with_pixels(lambda pixels: 255 - pixels)
        ...     surface.read_pixels(0, 0, 1, 1).tolist()
        [[[0, 255, 255, 0]]]
        """
        if not callable(change):
            raise ArgumentError(f"with_pixels: expected a function, got {type(change).__name__}")
        pixels = self.read_pixels(0, 0, self.width, self.height)
        changed = change(pixels)
        self.set_pixels(pixels if changed is None else changed)

    # -- looking at it -----------------------------------------------------------------------------

    def save(self, path: str | Path, quality: int = 90) -> None:
        """Write the last presented frame to a file: PNG, JPEG or WebP, by its ending.

        JPEG has no alpha: the frame is put on black.

        >>> import tempfile, pathlib
        >>> from dala import gpu
        >>> with gpu.create_surface(8, 8) as surface, tempfile.TemporaryDirectory() as folder:
        ...     surface.save(pathlib.Path(folder) / "frame.png")
        """
        save_picture(self.__array__(), Path(path), quality)

    def _repr_png_(self) -> bytes:
        return encode_png(self.__array__())

    def show(
        self,
        title: str = "dala",
        *,
        frame: OnFrame | None = None,
        on: Mapping[str, Handler] | None = None,
        fps: float = 60.0,
        vsync: bool = True,
        block: bool = True,
    ) -> Window | None:
        """Open a window that shows what is presented; in a notebook, show the image (the first one, with
        ``frame``).

        ``frame`` is called before each frame with (surface, seconds) and may draw and present; if it
        returns ``False``, or the surface is destroyed, that was the last one. What it raises, ``show``
        raises. ``surface.keys`` are the keys that are down, ``surface.gamepads`` those that are
        connected; typed texts are ``"char"`` events. ``on`` maps names of events ("key_down",
        "pointer_move", "resize", "close", …) to functions of an event, a dict whose ``pixel`` is the
        surface's pixel under the pointer. Returns when the window is closed, or at once with
        ``block=False``: then call the window's ``poll()`` from time to time.

        >>> from dala import gpu
        >>> def clock(surface, seconds):
        ...     surface.clear("black")
        ...     surface.fill_rect(0, 0, int(seconds * 10) % 320, 200, "gold")
        ...     surface.present()
        >>> gpu.create_surface(320, 200).show(frame=clock)  # doctest: +SKIP
        """
        each = None if frame is None else functools.partial(frame, self)
        return show_surface(self, title, frame=each, on=on, fps=fps, vsync=vsync, block=block)
