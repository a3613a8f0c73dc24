"""The way from a file to a Model."""

from __future__ import annotations

from pathlib import Path

from dala.errors import ModelError
from dala.ml.onnx.graph import Graph, Model
from dala.ml.onnx.messages import read_graph
from dala.ml.onnx.wire import Message

MOST_BYTES = 2 << 30  # protobuf's own limit
OPSETS = range(7, 26)


def load_bytes(source: str | Path | bytes | bytearray | memoryview) -> tuple[bytes, str]:
    """The bytes of a model and how to call it in errors."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), "this model"
    if not isinstance(source, str | Path):
        raise ModelError(f"a model is a path or bytes, got {type(source).__name__}")
    path = Path(source)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ModelError(f"{path}: {size} bytes; an ONNX file has {MOST_BYTES} at most")
        return path.read_bytes(), str(path)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from error


def read_model(data: bytes, name: str = "this model") -> Model:
    """A model from the bytes of an ONNX file.

    >>> from dala.ml.onnx.read import read_model
    >>> try:
    ...     read_model(b"hello")
    ... except ValueError as error:
    ...     print(error)
    this model is no ONNX file: the model: a field of unknown kind 4 (byte 2 of the file)
    """
    message = Message(memoryview(data), 0, "the model")
    try:
        return _model(message)
    except ModelError as error:
        raise ModelError(f"{name} is no ONNX file: {error}") from None
    except RecursionError:
        raise ModelError(f"{name} is no ONNX file: it is nested too deeply") from None


def _model(message: Message) -> Model:
    graph: Graph | None = None
    producer, opset = "", 0
    metadata: dict[str, str] = {}
    for field in message.fields():
        number = field.number
        if number == 2:
            producer = message.text(field)
        elif number == 7:
            if graph is not None:
                raise message.error("has two graphs", field.offset)
            graph = read_graph(message.message(field, "the graph"))
        elif number == 8:
            domain, version = _opset(message.message(field, "an operator set"))
            if domain in ("", "ai.onnx"):
                opset = version
        elif number == 14:
            pair = _pair(message.message(field, "a note"))
            metadata[pair[0]] = pair[1]
        elif number == 25:
            raise message.error("functions of its own are not supported", field.offset)
    if graph is None:
        raise message.error("there is no graph in it")
    if opset not in OPSETS:
        raise message.error(f"operator set {opset}; {OPSETS.start} to {OPSETS.stop - 1} are known")
    return Model(graph, opset, producer, metadata)


def _opset(message: Message) -> tuple[str, int]:
    domain, version = "", 0
    for field in message.fields():
        if field.number == 1:
            domain = message.text(field)
        elif field.number == 2:
            version = message.number(field)
    return domain, version


def _pair(message: Message) -> tuple[str, str]:
    texts = {1: "", 2: ""}
    for field in message.fields():
        if field.number in texts:
            texts[field.number] = message.text(field)
    return texts[1], texts[2]
