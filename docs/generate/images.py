"""Images of a page: their sizes are said, they load when they are seen, and clips stand still if asked to.

A browser that knows the size keeps the place free, so that links into the page lead where they should.
"""

from __future__ import annotations

import re
from collections.abc import Callable

IMAGE = re.compile(r'<img (?P<rest>[^>]*?src="(?P<src>[^"]+)"[^>]*?)\s*/?>')
CLIP = ".webp"  # beside it is a picture of the same name that does not move
SizeOf = Callable[[str], tuple[int, int] | None]  # of an address; none of what is not a file here


def settle(html: str, size_of: SizeOf) -> str:
    """The page's HTML with its images so.

    >>> settle('<img alt="A dot" src="dot.png" />', lambda address: (8, 6))
    '<img loading="lazy" width="8" height="6" alt="A dot" src="dot.png">'
    """
    return IMAGE.sub(lambda found: _image(found["src"], found["rest"], size_of), html)


def _image(address: str, rest: str, size_of: SizeOf) -> str:
    size = size_of(address)
    known = f'loading="lazy" width="{size[0]}" height="{size[1]}" ' if size else ""
    image = f"<img {known}{rest}>"
    if not address.endswith(CLIP):
        return image
    still = address.removesuffix(CLIP) + ".jpg"
    source = f'<source media="(prefers-reduced-motion: reduce)" srcset="{still}">'
    return f"<picture>{source}{image}</picture>"
