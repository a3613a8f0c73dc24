"""Every exception dala raises.

    DalaError
    ├── ShapeError            (ValueError)    sizes, ranks or element counts do not fit
    ├── DTypeError            (TypeError)     an element type is unknown or does not fit
    ├── ArgumentError         (TypeError)     something else was given where a buffer belongs
    ├── ParameterError        (ValueError)    a kernel parameter is missing, unknown or out of range
    ├── KernelError           (ValueError)    a kernel's own code is wrong; quotes the line
    │   └── KernelSyntaxError                 kernel text uses something outside the language
    ├── KernelNotFoundError   (LookupError)   no kernel of that name; suggests the nearest
    ├── BufferFreedError      (RuntimeError)  a buffer was used after free()
    ├── PipelineError         (ValueError)    a stage spec or the order of stages is wrong
    ├── CommandError          (RuntimeError)  a command failed, or its id is unknown
    │   ├── CommandTimeoutError (TimeoutError) it did not finish in the given time; it goes on
    │   └── CommandCancelledError             it was cancelled before it began
    ├── DeviceError           (RuntimeError)  a device cannot be found, made or used
    │   ├── UnsupportedError                  the device lacks a feature or an element type
    │   ├── DeviceLostError                   the driver gave up; a new device can be opened
    │   └── ShaderError                       the driver refuses a shader's code, or dala before it does
    ├── ProtocolError         (ValueError)    bytes are no drawing commands; names opcode and offset
    ├── ColorError            (ValueError)    a colour is unknown or out of range
    ├── SurfaceError          (RuntimeError)  a surface cannot do what a command asks for
    │   ├── PictureNotFoundError (LookupError) no sprite or image has that number
    │   └── SurfaceDestroyedError             a surface was used after destroy()
    ├── FontError             (ValueError)    a font cannot be read
    │   └── FontNotFoundError (LookupError)   no font of that name; suggests the nearest
    ├── MediaError            (ValueError)    a picture's file cannot be read or written
    │   ├── MediaFileError    (OSError)       the system refuses: no such file, no permission, disk full
    │   ├── LookError                         a look's file is wrong or missing; names the line
    │   └── LossError                         asked to be strict: an output does not hold all of its input
    ├── VideoError            (RuntimeError)  a video cannot be read or written
    │   ├── VideoFileError    (OSError)       the system refuses: no such file, no permission, disk full
    │   └── DamagedVideoError                 what comes is no valid video; says after how many frames
    ├── SubtitleError         (ValueError)    a text is no subtitles; says what was expected
    ├── FleetError            (RuntimeError)  a job for several workers cannot be done, or not here
    ├── SceneError            (RuntimeError)  a scene cannot do what is asked, or not any more
    │   ├── NodeNotFoundError (LookupError)   no node has that number or name; suggests the nearest
    │   ├── SceneFileError    (ValueError)    a scene's file is wrong; names the place in the document
    │   │   └── SceneSourceError              it names a source outside its folder that nobody allowed
    │   └── PoolExhaustedError (TimeoutError) all textures were in use for the given time
    ├── ModelError            (ValueError)    a model cannot be read or run; says what and where
    │   ├── ModelNotFoundError (LookupError)  no model of that name, or its weights are not here
    │   └── UnknownOperatorError              it has operators that dala has not; names all of them
    ├── OutOfMemoryError      (MemoryError)   an allocation is larger than the device can give
    └── VerificationError     (AssertionError) an IR program is malformed: a defect of dala itself

    ShapeWarning              (UserWarning)   a shape fits, but hardly what is meant
    LossWarning               (UserWarning)   nobody asked to be strict: what LossError would say

Each message says what was expected, what came, and how to fix it.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable


class DalaError(Exception):
    """Root of all errors raised by dala.

    >>> import dala
    >>> issubclass(dala.errors.ShapeError, dala.DalaError)
    True
    """


class ShapeWarning(UserWarning):
    """A shape fits its data, but hardly what is meant: width and height are swapped, say."""


class ShapeError(DalaError, ValueError):
    """Sizes, ranks or element counts do not fit."""


class DTypeError(DalaError, TypeError):
    """An element type is unknown or does not fit."""


class ArgumentError(DalaError, TypeError):
    """Something else was given where a buffer, a dict or a kernel belongs."""


class ParameterError(DalaError, ValueError):
    """A kernel parameter is missing, unknown or out of range."""


class KernelError(DalaError, ValueError):
    """A kernel's own code is wrong. The message quotes the offending line."""


class KernelSyntaxError(KernelError):
    """Kernel text uses a construct outside the kernel language."""


class KernelNotFoundError(DalaError, LookupError):
    """No kernel has the given name."""


class BufferFreedError(DalaError, RuntimeError):
    """A buffer was used after it was freed."""


class PipelineError(DalaError, ValueError):
    """A stage spec, or the order of stages, is wrong."""


class CommandError(DalaError, RuntimeError):
    """A command failed or is unknown."""


class CommandTimeoutError(CommandError, TimeoutError):
    """A command did not finish in the given time. It goes on."""


class CommandCancelledError(CommandError):
    """A command was cancelled before it began."""


class DeviceError(DalaError, RuntimeError):
    """A device cannot be found, made or used."""


class UnsupportedError(DeviceError):
    """The device lacks a feature or an element type."""


class DeviceLostError(DeviceError):
    """The driver gave up on the device. Its buffers are gone; a new device can be opened."""


class ShaderError(DeviceError):
    """The driver refuses a shader, or it is too deep for one. The message names it and the line."""


class ProtocolError(DalaError, ValueError):
    """Bytes are no drawing commands. ``opcode`` and ``offset`` say which one is wrong."""

    def __init__(self, reason: str, *, opcode: int, offset: int) -> None:
        super().__init__(f"opcode 0x{opcode:02x} at offset {offset}: {reason}")
        self.reason = reason
        self.opcode = opcode
        self.offset = offset

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(ProtocolError, opcode=self.opcode, offset=self.offset), (
            self.reason,
        )


class ColorError(DalaError, ValueError):
    """A colour's name is unknown, or its parts are not 0..255."""


class SurfaceError(DalaError, RuntimeError):
    """A surface cannot do what a command asks for."""


class PictureNotFoundError(SurfaceError, LookupError):
    """No sprite or image has that number."""


class SurfaceDestroyedError(SurfaceError):
    """A surface was used after it was destroyed."""


class FontError(DalaError, ValueError):
    """A font cannot be read."""


class FontNotFoundError(FontError, LookupError):
    """No font has that name, or there is no such file."""


class MediaError(DalaError, ValueError):
    """A picture's file cannot be read or written."""


class MediaFileError(MediaError, OSError):
    """The system refuses a picture's file: it is missing, a folder, not permitted, or the disk is full.

    >>> from dala.errors import MediaFileError
    >>> MediaFileError("photo.jpg: there is no such file", errno=2).errno
    2
    """

    def __init__(self, message: str, *, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(MediaFileError, errno=self.errno), (str(self),)


class LookError(MediaError):
    """A look's file is missing or wrong. The message names the line."""


class LossError(MediaError):
    """An output does not hold all of its input, and that was not allowed (``strict``)."""


class LossWarning(UserWarning):
    """An output does not hold all of its input: 16 bits in a JPEG, say."""


class VideoError(DalaError, RuntimeError):
    """A video, a camera or a stream cannot be read or written.

    >>> from dala import video
    >>> try:
    ...     video.probe("missing.mp4")
    ... except video.VideoError as error:
    ...     print(error)
    missing.mp4: there is no such file
    """


class VideoFileError(VideoError, OSError):
    """The system refuses a file: it is missing, a directory, not permitted, or the disk is full.

    >>> from dala.errors import VideoFileError
    >>> VideoFileError("clip.mp4: there is no such file", errno=2).errno
    2
    """

    def __init__(self, message: str, *, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(VideoFileError, errno=self.errno), (str(self),)


class DamagedVideoError(VideoError):
    """What comes is no valid video. ``frames`` says how many were good before.

    >>> from dala.errors import DamagedVideoError
    >>> DamagedVideoError("clip.mp4: ends early", frames=57).frames
    57
    """

    def __init__(self, message: str, *, frames: int) -> None:
        super().__init__(message)
        self.frames = frames

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(DamagedVideoError, frames=self.frames), self.args


class SubtitleError(DalaError, ValueError):
    """A text is no subtitles of the kind it was taken for, or there are too many.

    >>> from dala.errors import SubtitleError
    >>> from dala.scene.subtitles import parse_vtt
    >>> try:
    ...     parse_vtt("1")
    ... except SubtitleError as error:
    ...     print(error)
    WebVTT begins with a line WEBVTT, got '1'; parse_srt reads SubRip
    """


class FleetError(DalaError, RuntimeError):
    """A job for several workers cannot be done. What is finished of it stays, and is not done again.

    >>> from dala import fleet
    >>> try:
    ...     fleet.status("no such film.mp4")
    ... except fleet.FleetError as error:
    ...     print(type(error).__name__)
    FleetError
    """


class SceneError(DalaError, RuntimeError):
    """A scene cannot do what is asked, or not any more."""


class NodeNotFoundError(SceneError, LookupError):
    """No node of the scene has that number or name."""


class SceneFileError(SceneError, ValueError):
    """A scene's file is wrong. ``where`` is the place in the document, as JSON's pointers write it.

    >>> from dala.errors import SceneFileError
    >>> str(SceneFileError("expected a number, got 'a'", where="/nodes/3/opacity"))
    "/nodes/3/opacity: expected a number, got 'a'"
    """

    def __init__(self, reason: str, *, where: str = "") -> None:
        super().__init__(f"{where or 'the document'}: {reason}")
        self.reason = reason
        self.where = where

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(type(self), where=self.where), (self.reason,)


class SceneSourceError(SceneFileError):
    """A scene's file names a source that nobody allowed: outside its folder, a camera, a screen, a URL.

    >>> from dala.errors import SceneFileError, SceneSourceError
    >>> issubclass(SceneSourceError, SceneFileError)
    True
    """


class PoolExhaustedError(SceneError, TimeoutError):
    """All textures of a pool were in use for as long as one was ready to wait."""


class ModelError(DalaError, ValueError):
    """A model's file is damaged, or it cannot be run on what it was given.

    >>> import dala
    >>> from dala.ml.network import open_network
    >>> try:
    ...     open_network("missing.onnx")
    ... except dala.errors.ModelError as error:
    ...     print(error)
    missing.onnx: No such file or directory
    """


class ModelNotFoundError(ModelError, LookupError):
    """No model has that name, or its weights are nowhere to be found. The message says where it looked."""


class UnknownOperatorError(ModelError):
    """A model has operators that are not in the table. ``operators`` names all of them.

    >>> from dala.errors import UnknownOperatorError
    >>> UnknownOperatorError("no Einsum here", operators=("Einsum",)).operators
    ('Einsum',)
    """

    def __init__(self, message: str, *, operators: tuple[str, ...]) -> None:
        super().__init__(message)
        self.operators = operators

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(UnknownOperatorError, operators=self.operators), self.args


class OutOfMemoryError(DalaError, MemoryError):
    """An allocation is larger than the device can give."""


class VerificationError(DalaError, AssertionError):
    """An IR program is malformed. Always a defect of dala, never of the user."""


def suggest(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'blur'?"`` or the empty string, to end an error message with."""
    close = difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.55)
    if not close:
        return ""
    return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
