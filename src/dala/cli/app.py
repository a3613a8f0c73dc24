"""Every command of ``dala`` and its options. What a command needs it imports itself, when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dala.cli.flags import FilterCommand, chosen_flags, complete_kernels, complete_looks
from dala.cli.fleet import fleet
from dala.cli.help import Command, Group
from dala.cli.mistakes import UsageMistake
from dala.cli.new import complete_kinds
from dala.cli.scenes import AllowSources, Set, scene
from dala.cli.text_flags import Text, TextAt, TextColor, TextFont, TextSize
from dala.cli.video_flags import (
    Bitrate,
    Codec,
    Conceal,
    Crf,
    Fps,
    From,
    Gif,
    PixelFormat,
    Preset,
    Sound,
    Speed,
    Strict,
    To,
    Tonemap,
)

app = typer.Typer(
    name="dala",
    cls=Group,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.",
)

FILTER_EXAMPLES = """Values follow a flag as name=value; a bare number is its first parameter.

  dala filter in.jpg out.jpg --blur radius=3 --sharpen 0.5
  dala filter in.jpg out.jpg --rotate 90 --crop 16:9 --resize 1920x1080 --fit cover
  dala filter in.jpg out.jpg --overlay logo.png --at top-left --scale 0.2 --opacity 0.8
  dala filter clip.mp4 graded.mp4 --look noir --strength 0.8
  dala filter 'photos/*.jpg' 'small/{name}.webp' --resize 50%
  dala filter talk.mp4 out.mp4 --background-blur radius=20 --people
"""

MODELS_EXAMPLES = """Weights are found in the folders of DALA_MODELS and in a cache, by their sha256.

  dala models
  dala models import ~/Downloads/*.onnx
  dala models fetch selfie --from https://example.org/models
"""

DEMO_FILTERS = "--blur 2 --sharpen 0.6 --tone contrast=0.3 --white-balance 7600 --vignette 0.4"

Json = Annotated[bool, typer.Option("--json", help="Answer as JSON, for scripts.")]
People = Annotated[
    bool, typer.Option("--people", help="Masks that are not given: people, by a model.")
]
DeviceName = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        help="auto, cpu, webgpu, webgpu:N or reference; dala info lists them.",
        autocompletion=lambda: ["auto", "cpu", "webgpu", "reference"],
    ),
]

app.add_typer(fleet)
app.add_typer(scene)


@app.callback(invoke_without_command=True)
def dala(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Pictures, videos and cameras through fused filters, on the GPU or the CPU."""
    if version:
        from dala._version import __version__

        print(f"dala {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.get_help()  # prints it
        raise typer.Exit(2)


@app.command(
    "filter",
    cls=FilterCommand,
    epilog=FILTER_EXAMPLES,
)
def filter_(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="IN... OUT",
            show_default=False,
            help="Pictures, videos, folders or globs in quotes; then a file, a folder (out/), or a "
            "pattern of {name}, {ext}, {folder} and {n}.",
        ),
    ],
    device: DeviceName = "auto",
    strength: Annotated[
        float, typer.Option(help="Mix the result with the original: 0 is the original.")
    ] = 1.0,
    people: People = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite/--no-overwrite", help="Replace files that exist.")
    ] = False,
    skip_existing: Annotated[
        bool,
        typer.Option("--skip-existing", help="Go on where a run was stopped: what is there stays."),
    ] = False,
    quality: Annotated[
        int, typer.Option(min=1, max=100, help="Of JPEG, WebP and AVIF pictures.")
    ] = 92,
    codec: Codec = None,
    start: From = None,
    end: To = None,
    fps: Fps = None,
    speed: Speed = 1.0,
    crf: Crf = None,
    preset: Preset = None,
    bitrate: Bitrate = None,
    audio: Sound = "copy",
    pixel_format: PixelFormat = None,
    gif: Gif = False,
    conceal: Conceal = False,
    strict: Strict = False,
    tonemap: Tonemap = False,
    text: Text = None,
    text_at: TextAt = "bottom",
    text_size: TextSize = None,
    text_color: TextColor = "white",
    text_font: TextFont = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    json: Json = False,
) -> int:
    """Filter pictures and videos; a video keeps its sound and timing."""
    from dala import use
    from dala.cli.captions import Caption
    from dala.cli.filtering import Settings, filter_files
    from dala.cli.flags import chain_of, refuse_bare_filters
    from dala.cli.videos import VideoOptions

    refuse_bare_filters(paths)
    if overwrite and skip_existing:
        raise UsageMistake("--overwrite replaces what --skip-existing keeps; give one of them")
    if len(paths) < 2:
        raise UsageMistake(f"{paths[0]} shall become what? dala filter IN... OUT")
    use(device)
    chain = chain_of(chosen_flags(context), strength, people)
    options = VideoOptions(
        start,
        end,
        fps,
        speed,
        codec,
        crf,
        preset,
        bitrate,
        pixel_format,
        audio,
        gif,
        conceal,
        strict,
        tonemap,
    )
    if options != VideoOptions():
        options.check()
    caption = None if text is None else Caption(text, text_at, text_size, text_color, text_font)
    if caption is not None:
        caption.check()
    settings = Settings(overwrite, quiet, json, quality, options, skip_existing, caption)
    return filter_files(paths[:-1], paths[-1], chain, settings)


@app.command("concat", cls=Command)
def concat_(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="IN... OUT", show_default=False, help="Videos, then a file."),
    ],
    codec: Codec = None,
    crf: Crf = None,
    preset: Preset = None,
    bitrate: Bitrate = None,
    pixel_format: PixelFormat = None,
    silent: Annotated[bool, typer.Option("--silent", help="Leave the sound out.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT if it exists.")
    ] = False,
    conceal: Conceal = False,
    strict: Strict = False,
    tonemap: Tonemap = False,
    device: DeviceName = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Videos one after the other, as one file."""
    from dala import use
    from dala.cli.joining import concat_files
    from dala.cli.videos import VideoOptions

    if len(paths) < 3:
        raise UsageMistake("two videos or more become one: dala concat IN IN... OUT")
    options = VideoOptions(
        codec=codec, crf=crf, preset=preset, bitrate=bitrate, pixel_format=pixel_format,
        audio="none" if silent else "encode", conceal=conceal, strict=strict,
        tonemap=tonemap,
    )  # fmt: skip
    use(device)
    concat_files(paths[:-1], paths[-1], options, overwrite=overwrite, quiet=quiet)


@app.command(cls=Command)
def render(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scene's file.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="A video; or a picture, PNG, JPEG, …")
    ],
    start: Annotated[
        float | None, typer.Option("--from", "--at", metavar="SECONDS", help="Where it begins.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="SECONDS", help="Where it ends.")
    ] = None,
    fps: Fps = None,
    set_: Set = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep what is finished of a video; go on where it was left."),
    ] = False,
    allow_sources: AllowSources = False,
    device: DeviceName = "auto",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace OUT if it exists.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """A scene file as a video, or as a picture at a time."""
    from dala import use
    from dala.cli.scenes import render_scene

    use(device)
    render_scene(
        source, out, (start, end), fps, set_,
        allow_sources=allow_sources, overwrite=overwrite, quiet=quiet, resume=resume,
    )  # fmt: skip


@app.command(cls=Command)
def play(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scene's file.", show_default=False)
    ],
    start: Annotated[
        float, typer.Option("--from", metavar="SECONDS", help="Where it begins.")
    ] = 0.0,
    set_: Set = None,
    allow_sources: AllowSources = False,
    device: DeviceName = "auto",
) -> None:
    """A scene file in a window."""
    from dala import use
    from dala.cli.scenes import play_scene

    use(device)
    play_scene(source, start, set_, allow_sources=allow_sources)


@app.command(cls=FilterCommand)
def live(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Option(metavar="WHAT", help="test, camera, camera:N, screen, a file or a URL."),
    ] = "test",
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Of the test source, a camera or a screen.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="N", help="Frames a second, of a camera or a screen.")
    ] = None,
    record: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write what is shown into a video.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Send what is shown: rtmp://…, srt://…, udp://…"),
    ] = None,
    window: Annotated[
        bool, typer.Option("--window/--no-window", help="Without one: only --record and --to.")
    ] = True,
    device: DeviceName = "auto",
    frames: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after so many.")
    ] = None,
    stills: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the key s saves pictures.")
    ] = Path(),
) -> None:
    """A camera through filters into a window; keys turn filters on."""
    from dala import use
    from dala.cli.flags import chain_of
    from dala.cli.live import run_live
    from dala.cli.names import read_size

    use(device)
    steps = chain_of(chosen_flags(context), people=True).steps  # a camera looks at people
    run_live(
        source,
        None if size is None else read_size(size),
        steps,
        frames=frames,
        stills=stills,
        device=device,
        fps=fps,
        outputs=[out for out in (record, to) if out is not None],
        window=window,
    )


@app.command(cls=Command)
def detect(
    source: Annotated[str, typer.Argument(metavar="IN", help="A picture or a video.")],
    target: Annotated[
        Path | None,
        typer.Argument(metavar="[OUT]", help="The same with what is found drawn on it; no sound."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="dala models lists them; or an ONNX file.")
    ] = "yolo_v5",
    device: DeviceName = "auto",
    score: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="N", help="How sure it must be; the model's own."),
    ] = None,
    track: Annotated[
        bool, typer.Option("--track", help="Of videos: number things from frame to frame.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite/--no-overwrite", help="Replace OUT if it exists.")
    ] = False,
    json: Json = False,
) -> None:
    """What a model sees: things, faces, people, classes."""
    from dala import ml, use
    from dala.cli.detect import Settings, run_detect

    use(device)
    with ml.load_model(model) as loaded:
        run_detect(Path(source), target, loaded, Settings(score, track, json, overwrite))


@app.command(cls=Command, epilog=MODELS_EXAMPLES)
def models(
    action: Annotated[
        str,
        typer.Argument(metavar="[ACTION]", help="list, verify, import or fetch."),
    ] = "list",
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WHAT...]", help="Models by name; of import, files."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="Of fetch: the folder of the files."),
    ] = None,
    json: Json = False,
) -> int:
    """Models by name: their licences, and whether their weights are here."""
    from dala.cli.models import run_models

    return run_models(action, what or [], address, as_json=json)


@app.command(cls=Command)
def looks(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One look, or a file of one.", autocompletion=complete_looks
        ),
    ] = None,
    json: Json = False,
) -> None:
    """The looks that come with dala, or one with its filters."""
    from dala.cli.catalogue import show_looks

    show_looks(name, as_json=json)


@app.command(cls=Command)
def kernels(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="One kernel.", autocompletion=complete_kernels),
    ] = None,
    json: Json = False,
) -> None:
    """All kernels, or one with its parameters, ranges and defaults."""
    from dala.cli.catalogue import show_kernels

    show_kernels(name, as_json=json)


@app.command(cls=FilterCommand)
def bench(
    context: typer.Context,
    size: Annotated[str, typer.Option(metavar="WxH", help="Of the picture.")] = "1920x1080",
    device: DeviceName = "auto",
    seconds: Annotated[float, typer.Option(min=0.01, help="For each measurement.")] = 0.3,
    share: Annotated[
        bool, typer.Option("--share", help="As a Markdown table to paste, with the machine.")
    ] = False,
    json: Json = False,
) -> None:
    """Speed of this machine, beside OpenCV; or of the filters you give."""
    from dala import use
    from dala.cli.bench import show_bench
    from dala.cli.flags import chain_of
    from dala.cli.names import read_size

    chain = chain_of(chosen_flags(context))
    use(device)
    show_bench(read_size(size), seconds, chain, as_json=json, share=share)


@app.command(cls=FilterCommand)
def demo(
    context: typer.Context,
    clip: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIP]", help="A video, or a photo to fly over; drawn if not given."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where everything is written.")
    ] = Path("demo_output"),
    device: DeviceName = "auto",
) -> None:
    """A clip before and after: videos, a contact sheet, plan and speed."""
    from dala import use
    from dala.cli.demo import run_demo
    from dala.cli.flags import chain_of, split_flags

    use(device)
    run_demo(clip, out, chain_of(chosen_flags(context) or split_flags(DEMO_FILTERS.split())[1]))


@app.command(cls=Command)
def tour(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the pictures are written.")
    ] = Path("dala_tour"),
    device: DeviceName = "auto",
    pauses: Annotated[
        bool, typer.Option("--pauses/--no-pauses", help="Wait for Enter after each stop.")
    ] = True,
) -> None:
    """A guided five minutes: what dala is, with pictures as it goes."""
    from dala import use
    from dala.cli.tour import run_tour

    use(device)
    run_tour(out, pauses=pauses)


@app.command(cls=Command)
def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="kernel, scene or project.", autocompletion=complete_kinds
        ),
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The name of the kernel, scene or folder.")
    ],
) -> None:
    """Files to begin from: a kernel, a scene, a project."""
    from dala.cli.new import make_new

    make_new(kind, name)


@app.command(cls=Command)
def info(json: Json = False) -> None:
    """Version, devices and installed extras."""
    from dala.cli.facts import show_info

    show_info(as_json=json)


@app.command(cls=Command)
def doctor() -> None:
    """What works here, what is missing, and the command that helps."""
    from dala.cli.doctor import show_doctor

    show_doctor()
