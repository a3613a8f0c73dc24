"""The sources of moving pictures that a scene has open: one for each node, closed when the node is gone.

Who evaluates a scene holds ``using``; sources are closed under it, so none is closed while it is asked.
"""

from __future__ import annotations

from typing import Any

from dala import forking
from dala.scene.description import Description
from dala.scene.evaluate.filtering import Lookahead
from dala.scene.evaluate.resources import Resources
from dala.scene.nodes.media import Held
from dala.scene.nodes.node import Node
from dala.scene.sources import Source, Supply, open_media


class Streams:
    """Open sources by node, and the pictures beside them."""

    def __init__(self) -> None:
        self.supply = Supply()  # memory for frames ahead, and reports of what went wrong
        self.resources = Resources(self.supply.report)
        self.lookahead = Lookahead()  # which filters come, for whoever compiles them
        self.using = forking.rlock()
        self._lock = forking.lock()
        self._open: dict[int, tuple[Any, Source]] = {}
        self._replaced: list[tuple[Any, Source]] = []
        self._version = -1

    def source(self, node: Node) -> Source:
        """The source of a video node; opened when it is first asked for."""
        stream = node.stream
        with self._lock:
            found = self._open.get(node.id)
            if found is not None and found[0] == stream:
                return found[1]
        made = open_media(stream.of if isinstance(stream, Held) else stream, self.supply)
        with self._lock:
            before = self._open.get(node.id)
            if before is not None:
                self._replaced.append(before)
            self._open[node.id] = (stream, made)
        return made

    def keep_only(self, description: Description) -> None:
        """Close what belongs to nodes that are gone, or that show something else now."""
        if description.version == self._version:
            return
        with self.using:
            with self._lock:
                gone = self._let_go(description)
            for stream, source in gone:
                _close(stream, source)

    def _let_go(self, description: Description) -> list[tuple[Any, Source]]:
        gone, self._replaced = self._replaced, []
        for number, (stream, source) in list(self._open.items()):
            node = description.nodes.get(number)
            if node is None or node.props.get("stream") != stream:
                del self._open[number]
                gone.append((stream, source))
        self._version = description.version
        return gone

    def close(self) -> None:
        """Close all of them."""
        with self.using:
            with self._lock:
                gone = [*self._replaced, *self._open.values()]
                self._replaced.clear()
                self._open.clear()
            self.lookahead.close()
            for stream, source in gone:
                _close(stream, source)
            self.resources.close()


def _close(stream: Any, source: Source) -> None:
    """A source that its user has made is closed by its user."""
    if not (isinstance(stream, Held) and stream.of is source):
        source.close()
