"""The sources of moving pictures that a scene has open, closed when their nodes are gone.

Each node has a source of its own, but for those that show the same moments of the same file: a film on
itself, blurred and enlarged, is decoded once. A camera is opened once, whoever shows it.

Who evaluates a scene holds ``using``; sources are closed under it, so none is closed while it is asked.
"""

from __future__ import annotations

from dala import forking
from dala.scene.description import Description
from dala.scene.evaluate.filtering import Lookahead
from dala.scene.evaluate.resources import Resources
from dala.scene.nodes.media import Held
from dala.scene.nodes.node import Node
from dala.scene.sources import LiveSource, Source, Supply, open_media


class Streams:
    """Open sources by node, and the pictures beside them."""

    def __init__(self) -> None:
        self.supply = Supply()  # memory for frames ahead, and reports of what went wrong
        self.resources = Resources(self.supply.report)
        self.lookahead = Lookahead()  # which filters come, for whoever compiles them
        self.using = forking.rlock()
        self._lock = forking.lock()
        self._open: dict[int, tuple[Node, Source]] = {}
        self._replaced: list[tuple[Node, Source]] = []
        self._version = -1

    def source(self, node: Node) -> Source:
        """The source of a video node; opened when it is first asked for."""
        found = self._open.get(node.id)
        if found is not None and found[0] is node:
            return found[1]
        with self._lock:
            known = self._known(node)
            if known is not None:
                self._take(node, known)
                return known
        stream = node.stream
        made = open_media(stream.of if isinstance(stream, Held) else stream, self.supply)
        with self._lock:
            self._take(node, made)
        return made

    def _known(self, node: Node) -> Source | None:
        """A source that is open and has what the node shows: its own, or another node's."""
        own = self._open.get(node.id)
        if own is not None and own[0].stream == node.stream:
            others = [
                n for n, source in self._open.values() if source is own[1] and n.id != node.id
            ]
            if not others or _moments_of(own[0], own[1]) == _moments_of(node, own[1]):
                return own[1]
        for other, source in self._open.values():
            alike = isinstance(node.stream, str) and other.stream == node.stream
            if alike and _moments_of(other, source) == _moments_of(node, source):
                return source
        return None

    def _take(self, node: Node, source: Source) -> None:
        before = self._open.get(node.id)
        if before is not None and before[1] is not source:
            self._replaced.append(before)
        self._open[node.id] = node, source

    def keep_only(self, description: Description) -> None:
        """Close what belongs to nodes that are gone, or that show something else now."""
        if description.version == self._version:
            return
        with self.using:
            with self._lock:
                gone = self._let_go(description)
            _close_all(gone)

    def _let_go(self, description: Description) -> list[tuple[Node, Source]]:
        gone, self._replaced = self._replaced, []
        for number, (was, source) in list(self._open.items()):
            node = description.nodes.get(number)
            if node is None or node.props.get("stream") != was.stream:
                del self._open[number]
                gone.append((was, source))
        self._version = description.version
        held = {id(source) for _, source in self._open.values()}
        return [pair for pair in gone if id(pair[1]) not in held]

    def close(self) -> None:
        """Close all of them."""
        with self.using:
            with self._lock:
                gone = [*self._replaced, *self._open.values()]
                self._replaced.clear()
                self._open.clear()
            self.lookahead.close()
            _close_all(gone)
            self.resources.close()


_TIMES = ("start", "source_start", "source_end", "speed", "loop", "pauses")


def _moments_of(node: Node, source: Source) -> object:
    """Equal for nodes that show the same of a source at any time; what is live has one moment."""
    return None if isinstance(source, LiveSource) else tuple(node.props[name] for name in _TIMES)


def _close_all(sources: list[tuple[Node, Source]]) -> None:
    """A source that its user has made is closed by its user."""
    for node, source in sources:
        if not (isinstance(node.stream, Held) and node.stream.of is source):
            source.close()
