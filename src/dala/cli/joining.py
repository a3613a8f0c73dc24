"""``dala concat``: videos one after the other, as one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dala.cli.bars import Bars
from dala.cli.films import is_pipe
from dala.cli.mistakes import Failed, UsageMistake
from dala.cli.names import check_source, expand
from dala.cli.screen import err, out, say_note
from dala.cli.videos import VideoOptions, encoding_of, respell
from dala.errors import DalaError, ParameterError
from dala.media.losses import report_losses


def concat_files(
    inputs: Sequence[str], output: str, options: VideoOptions, *, overwrite: bool, quiet: bool
) -> None:
    """Join them; one line says what came of it."""
    from dala import video

    target = Path(output)
    parts = [part for given in inputs for part in expand([given])]  # one may come twice
    for part in parts:
        check_source(part)
    if target.exists() and not overwrite and not is_pipe(target):
        raise Failed(f"{target} exists; --overwrite replaces it")
    with Bars(1, shown=not quiet) as bars:
        bars.begin(target.name)
        try:
            report = video.concat(
                parts,
                output,
                audio="none" if options.audio == "none" else "encode",
                encoding=encoding_of(options),
                on_damage="conceal" if options.conceal else "error",
                tonemap=options.tonemap,
                strict=options.strict,
                progress=lambda p: bars.advance(p.frames, p.total_frames, p.fps),
            )
        except ParameterError as error:
            raise UsageMistake(respell(str(error))) from error
        except DalaError as error:
            raise Failed(respell(str(error))) from error
    if quiet:
        return
    width, height = report.size
    said = f"{len(parts)} videos → {output}  {width}×{height}, {report.frames} frames, "
    (err() if is_pipe(target) else out()).print(
        f"{said}{float(report.duration):.2f} s", soft_wrap=True, markup=False
    )
    lost = [*report.notes, *report.dropped]
    report_losses(output, lost, tell=say_note)
