"""A file being made: where its packets go, what is passed on as it is, what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dala.video.codecs import Settings
from dala.video.library import load_av
from dala.video.sink import open_sink


class Output:
    """An output with its settings; ``discard`` leaves nothing behind, unless it is in place already.

    A file stands in ``folder``, or beside its place, until it is complete.
    """

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self.settings = settings
        self.sink = open_sink(settings.target, folder=folder)

    def copy_stream(self, template: Any) -> Any | None:
        """A stream for packets that are passed on; None where the container cannot hold them."""
        try:
            made = self.sink.container.add_stream_from_template(template, opaque=True)
        except (ValueError, load_av().error.FFmpegError):
            return None
        made.metadata.update(template.metadata)
        made.disposition = template.disposition
        return made

    def describe(self, metadata: Mapping[str, str], chapters: list[dict[str, Any]]) -> None:
        """What the file says about itself."""
        technical = ("major_brand", "minor_version", "compatible_brands", "encoder")
        kept = {k: v for k, v in metadata.items() if k.lower() not in technical}
        self.sink.container.metadata.update(kept)
        if chapters:
            self.sink.container.set_chapters(chapters)

    def discard(self) -> None:
        """Leave nothing behind. Of a finished one, everything stays."""
        self.sink.discard()
