"""Pictures as video frames and back: planar YUV in one grey image of (H · 3/2, W), as OpenCV has it.

``dala.video`` does this inside of its first and last pass; these are for frames that come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.pipelines import Pipeline
from dala.errors import ParameterError, ShapeError
from dala.media.apply import Image, engine_with, upload_to
from dala.media.packing import drop_alpha
from dala.media.pictures import Channels, take_picture
from dala.media.program import new_buffer, read_result
from dala.media.stages import SWAP

Matrix: TypeAlias = Literal["bt601", "bt709", "bt2020"]
Range: TypeAlias = Literal["limited", "full"]
Colors: TypeAlias = Literal["rgb", "bgr", "rgba", "bgra"]


def rgba_to_yuv420p(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: Matrix = "bt709",
    range: Range = "limited",
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """A picture of even size as a yuv420p frame: Y, then a quarter of U, then of V.

    >>> import numpy as np
    >>> from dala import media
    >>> media.rgba_to_yuv420p(np.full((2, 2, 3), 255, np.uint8))
    array([[235, 235],
           [235, 235],
           [128, 128]], dtype=uint8)
    """
    params = {"matrix": matrix, "range": range}
    return _to_frame("rgba_to_yuv420p", image, (width, height), channels, device, params)


def rgba_to_nv12(
    image: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: Matrix = "bt709",
    range: Range = "limited",
    channels: Channels | None = None,
    device: str | None = None,
) -> Image:
    """A picture of even size as an nv12 frame: Y, then U and V in turn.

    >>> import numpy as np
    >>> from dala import media
    >>> media.rgba_to_nv12(np.full((4, 2, 3), 0, np.uint8), range="full").shape
    (6, 2)
    """
    params = {"matrix": matrix, "range": range}
    return _to_frame("rgba_to_nv12", image, (width, height), channels, device, params)


def yuv420p_to_rgba(
    frame: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: Matrix = "bt709",
    range: Range = "limited",
    channels: Colors = "rgba",
    device: str | None = None,
) -> Image:
    """A yuv420p frame as a picture; ``channels`` says which. Bytes need its width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> frame = np.array([[235, 235], [235, 235], [128, 128]], np.uint8)
    >>> media.yuv420p_to_rgba(frame, channels="rgb")[0, 0].tolist()
    [255, 255, 255]
    """
    params = {"matrix": matrix, "range": range}
    return _from_frame("yuv420p_to_rgba", frame, (width, height), channels, device, params)


def nv12_to_rgba(
    frame: Image,
    width: int | None = None,
    height: int | None = None,
    *,
    matrix: Matrix = "bt709",
    range: Range = "limited",
    channels: Colors = "rgba",
    device: str | None = None,
) -> Image:
    """An nv12 frame as a picture; ``channels`` says which. Bytes need its width and height.

    >>> import numpy as np
    >>> from dala import media
    >>> frame = bytes([16, 16, 16, 16, 128, 128])
    >>> media.nv12_to_rgba(frame, 2, 2)[:4]
    b'\\x00\\x00\\x00\\xff'
    """
    params = {"matrix": matrix, "range": range}
    return _from_frame("nv12_to_rgba", frame, (width, height), channels, device, params)


def _to_frame(
    name: str,
    image: Image,
    size: tuple[int | None, int | None],
    channels: str | None,
    device: str | None,
    params: Mapping[str, object],
) -> Image:
    picture = take_picture(image, *size, channels, who=name)
    engine = engine_with(picture, device, name)
    columns, rows = picture.size
    if rows % 2 or columns % 2:
        raise ShapeError(f"{name}: expected an even width and height, got {columns} × {rows}")
    output = new_buffer(engine, array_type((rows * 3 // 2, columns), picture.layout.type.dtype))
    pipeline = Pipeline(engine)
    source: Buffer | Scratch = upload_to(picture, engine)
    if picture.layout.swapped and source.type.channels == 4:
        swapped = Scratch(source.type)
        pipeline.add({"kernel": SWAP, "inputs": [source], "output": swapped})
        source = swapped
    pipeline.add({"kernel": name, "inputs": [source], "output": output, "params": params}).run()
    if isinstance(picture.pixels, Buffer):
        return output  # type: ignore[return-value]
    return picture.restore(read_result(output))  # type: ignore[return-value]


def _from_frame(
    name: str,
    frame: Image,
    size: tuple[int | None, int | None],
    channels: str,
    device: str | None,
    params: Mapping[str, object],
) -> Image:
    if channels not in ("rgb", "bgr", "rgba", "bgra"):
        raise ParameterError(
            f"{name}: channels must be 'rgb', 'bgr', 'rgba' or 'bgra', got {channels!r}"
        )
    width, height = size
    rows = None if height is None else height * 3 // 2
    picture = take_picture(frame, width, rows, "grey", who=name)
    engine = engine_with(picture, device, name)
    columns, lines = picture.size
    if lines % 3 or columns % 2:
        raise ShapeError(
            f"{name}: a frame is (H * 3 // 2, W) with even H and W, got {(lines, columns)}"
        )
    type_ = array_type((lines // 3 * 2, columns, 4), picture.layout.type.dtype)
    output = new_buffer(engine, type_)
    swap = channels in ("bgr", "bgra")
    target: Buffer | Scratch = Scratch(type_) if swap else output
    pipeline = Pipeline(engine)
    source = upload_to(picture, engine)
    pipeline.add({"kernel": name, "inputs": [source], "output": target, "params": params})
    if swap:
        pipeline.add({"kernel": SWAP, "inputs": [target], "output": output})
    pipeline.run()
    if isinstance(picture.pixels, Buffer):
        return output  # type: ignore[return-value]
    pixels = read_result(output)
    return picture.restore(pixels if channels.endswith("a") else drop_alpha(pixels))  # type: ignore[return-value]
