"""Pictures by number: images each in memory of their own, sprites packed into pages.

A page holds shelves, a shelf sprites of about its height, side by side. A sprite's rows follow each other
in memory (rows a page's width apart would all fall into the same few lines of the cache): of a shelf that
is h high, a sprite of width w takes w · h pixels. Taking a sprite out leaves a gap that the next one of its
size fills; empty shelves at the bottom and empty pages go away. Pages never move, so the records that
machine code reads stay right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dala.backends.host import HostArray
from dala.errors import PictureNotFoundError
from dala.gpu.raster.layout import PICTURE_BYTES
from dala.ir.arrays import ArrayType
from dala.ir.dtypes import U8

PAGE_SIDE = 1024  # pixels; a larger sprite gets a page of its own size
STEP = 8  # shelves are a multiple of this high, so that sprites of about one height share them
Array = npt.NDArray[np.uint8]


@dataclass(slots=True)
class Shelf:
    """A strip of a page, and what is free on it: begin → width."""

    top: int
    height: int
    free: dict[int, int]

    def take(self, width: int) -> int | None:
        """Where a sprite of that width can stand: the narrowest gap that is wide enough."""
        fitting = [(w, x) for x, w in self.free.items() if w >= width]
        if not fitting:
            return None
        gap, x = min(fitting)
        del self.free[x]
        if gap > width:
            self.free[x + width] = gap - width
        return x

    def give(self, x: int, width: int) -> None:
        """Free a place and join it with the gaps beside it."""
        for begin, gap in list(self.free.items()):
            if begin + gap == x or x + width == begin:
                del self.free[begin]
                x, width = min(begin, x), width + gap
        self.free[x] = width


@dataclass(slots=True)
class Page:
    """Memory for sprites, in shelves from top to bottom."""

    pixels: HostArray
    shelves: list[Shelf] = field(default_factory=list)

    def take(self, width: int, height: int) -> tuple[Shelf, int] | None:
        """A place: on the lowest shelf that is high enough, but not twice as high; else on a new one."""
        page_height, page_width, _ = self.pixels.type.shape
        for shelf in sorted(self.shelves, key=lambda s: s.height):
            if height <= shelf.height < 2 * height + STEP:
                x = shelf.take(width)
                if x is not None:
                    return shelf, x
        top = self.shelves[-1].top + self.shelves[-1].height if self.shelves else 0
        room = page_height - top
        if height > room or width > page_width:
            return None
        shelf = Shelf(top, min(-(-height // STEP) * STEP, room), {0: page_width})
        self.shelves.append(shelf)
        x = shelf.take(width)
        assert x is not None
        return shelf, x

    def give(self, shelf: Shelf, x: int, width: int) -> None:
        """Free a place; empty shelves at the bottom can be cut anew."""
        shelf.give(x, width)
        page_width = self.pixels.type.shape[1]
        while self.shelves and self.shelves[-1].free == {0: page_width}:
            self.shelves.pop()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sprite stands."""

    page: Page
    shelf: Shelf
    x: int

    @property
    def begin(self) -> int:
        """The number of its first pixel in the page."""
        return self.shelf.top * self.page.pixels.type.shape[1] + self.x * self.shelf.height


@dataclass(frozen=True, slots=True)
class StoredImage:
    """Pixels of a sprite or an image; ``pixels`` keeps the memory."""

    pixels: object
    address: int
    stride: int
    width: int
    height: int
    place: Place | None = None


def _records(pictures: Mapping[int, StoredImage]) -> npt.NDArray[np.int64]:
    """What machine code reads, sorted by unsigned number."""
    rows = [
        (i - (1 << 64) if i >> 63 else i, p.address, p.stride, p.width, p.height)
        for i, p in sorted(pictures.items())
    ]
    return np.array(rows, np.int64).reshape(-1, PICTURE_BYTES // 8)


class Pictures:
    """Pictures by number, and the table that machine code looks them up in."""

    kind = "image"

    def __init__(self) -> None:
        self._known: dict[int, StoredImage] = {}
        self._table = _records({})
        self._changed: set[int] = set()  # what the table does not know yet

    def __len__(self) -> int:
        return len(self._known)

    def load(self, identity: int, pixels: Array) -> None:
        """Keep a copy of an array (height, width, 4), in place of what had that number."""
        self.remember(identity, self.store(pixels))

    def store(self, pixels: Array) -> StoredImage:
        height, width, _ = pixels.shape
        memory = HostArray(ArrayType((height, width, 4), U8))
        np.copyto(memory.array, pixels)
        return StoredImage(memory, memory.address, width * 4, width, height)

    def remember(self, identity: int, picture: StoredImage) -> None:
        replaced = self._known.get(identity)
        self._known[identity] = picture
        self._changed.add(identity)
        if replaced is not None:
            self.release(replaced)

    def remove(self, identity: int) -> None:
        """Forget a picture."""
        self.find(identity)
        self._changed.add(identity)
        self.release(self._known.pop(identity))

    def find(self, identity: int) -> StoredImage:
        """A picture by its number; an error if there is none."""
        try:
            return self._known[identity]
        except KeyError:
            raise PictureNotFoundError(
                f"no {self.kind} has the number {identity}; load it first (load_{self.kind})"
            ) from None

    def clear(self) -> None:
        """Forget all of them."""
        self._changed.update(self._known)
        self._known = {}

    def release(self, picture: StoredImage) -> None:
        """Nothing to do: the memory goes with the picture."""

    def table(self) -> npt.NDArray[np.int64]:
        """Records (layout.py), sorted by number. A few changes among many pictures are put in one by one:
        a picture that is new in each frame should not cost a new table."""
        if len(self._changed) * 16 > len(self._known):
            self._table = _records(self._known)
        else:
            for identity in self._changed:
                self._table = self._with_change(identity)
        self._changed.clear()
        return self._table

    def _with_change(self, identity: int) -> npt.NDArray[np.int64]:
        table, picture = self._table, self._known.get(identity)
        ids = table[:, 0].view(np.uint64)
        row = int(np.searchsorted(ids, np.uint64(identity)))
        found = row < len(ids) and int(ids[row]) == identity
        if picture is None:
            return np.delete(table, row, 0) if found else table
        if not found:
            return np.insert(table, row, _records({identity: picture}), 0)
        table[row] = _records({identity: picture})
        return table

    # -- all or nothing ----------------------------------------------------------------------------

    def begin(self) -> Mapping[int, StoredImage]:
        """What rollback() goes back to."""
        return dict(self._known)

    def commit(self) -> None:
        """Nothing to do."""

    def rollback(self, before: Mapping[int, StoredImage]) -> None:
        """Forget what was loaded since begin(), and take back what was removed."""
        self._changed.update(self._known, before)
        self._known = dict(before)


class Atlas(Pictures):
    """Sprites, packed. Places that become free are used again after commit(), so rollback() finds what
    was removed untouched."""

    kind = "sprite"

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[Page] = []
        self._freed: list[StoredImage] = []

    def store(self, pixels: Array) -> StoredImage:
        height, width, _ = pixels.shape
        place = self._find_place(width, height)
        memory, begin = place.page.pixels, place.begin
        memory.array.reshape(-1, 4)[begin : begin + width * height] = pixels.reshape(-1, 4)
        return StoredImage(memory, memory.address + begin * 4, width * 4, width, height, place)

    def _find_place(self, width: int, height: int) -> Place:
        for page in self.pages:
            found = page.take(width, height)
            if found is not None:
                return Place(page, *found)
        size = (max(PAGE_SIDE, height), max(PAGE_SIDE, width), 4)
        page = Page(HostArray(ArrayType(size, U8)))
        found = page.take(width, height)
        assert found is not None
        self.pages.append(page)
        return Place(page, *found)

    def clear(self) -> None:
        super().clear()
        self.pages, self._freed = [], []

    def release(self, picture: StoredImage) -> None:
        self._freed.append(picture)

    def commit(self) -> None:
        while self._freed:
            self._free(self._freed.pop())

    def rollback(self, before: Mapping[int, StoredImage]) -> None:
        kept = {id(p) for p in before.values()}
        made = [p for p in (*self._known.values(), *self._freed) if id(p) not in kept]
        self._freed = []
        for picture in made:
            self._free(picture)
        super().rollback(before)

    def _free(self, picture: StoredImage) -> None:
        place = picture.place
        assert place is not None
        place.page.give(place.shelf, place.x, picture.width)
        if not place.page.shelves and len(self.pages) > 1:
            self.pages.remove(place.page)
