"""Pictures as video frames and back: planar YUV in one grey image of (H · 3/2, W), as OpenCV has it.

``dala.video`` does this inside of its first and last pass; these are for frames that come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from dala.compute.buffers import Buffer, Scratch, array_type
from dala.compute.pipelines import Pipeline
from dala.errors import ParameterError, ShapeError
from dala.language.kernel import Kernel
from dala.media.apply import Image, Size, engine_with, upload_to
from dala.media.packing import drop_alpha
from dala.media.pictures import take_picture
from dala.media.program import new_buffer, read_result
from dala.media.stages import SWAP


def run_to_frame(
    kernel: Kernel,
    image: Image,
    size: Size | None,
    channels: str | None,
    device: str | None,
    params: Mapping[str, object],
) -> Image:
    """A picture as a frame."""
    name = kernel.name
    picture = take_picture(image, *(size or (None, None)), channels, who=name)
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


def run_from_frame(
    kernel: Kernel,
    frame: Image,
    size: Size | None,
    channels: str | None,
    device: str | None,
    params: Mapping[str, object],
) -> Image:
    """A frame as a picture, RGBA unless ``channels`` says otherwise."""
    name, channels = kernel.name, channels or "rgba"
    if channels not in ("rgb", "bgr", "rgba", "bgra"):
        raise ParameterError(
            f"{name}: channels must be 'rgb', 'bgr', 'rgba' or 'bgra', got {channels!r}"
        )
    width, height = size or (None, None)
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
