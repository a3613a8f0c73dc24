"""Every type of node and its properties: their kinds, bounds and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dala.scene.animation.easing import EASINGS
from dala.scene.layers import BLENDS
from dala.scene.nodes import kinds
from dala.scene.nodes.kinds import (
    BORDER,
    BOX,
    COLOR,
    FLAG,
    MILLISECONDS,
    OUTLINE,
    PAINT,
    SHADOW,
    TIME,
)
from dala.scene.nodes.looks import Outline
from dala.scene.nodes.media import FILTER, IMAGE, MEDIA, PARAMS, SCENE, Params
from dala.scene.nodes.media import SUBTITLES as MEDIA_SUBTITLES
from dala.scene.nodes.property import NodeType, Property
from dala.scene.nodes.references import KEYFRAMES, NODE, PAUSES, VALUE

Table = Mapping[str, Property]
LARGEST = 16_384.0  # pixels of a node's side
FITS = ("stretch", "contain", "cover", "none")
ALIGNS = ("start", "center", "end")
_PLACE = kinds.numbers(2, "(x, y)")
_SIZE = kinds.numbers(2, "(width, height)", 0, LARGEST)
_UNIT = kinds.number(0, 1)

ROOT: Table = {
    "name": Property(
        kinds.string(200).or_none(), None, "What other nodes and files call it.", structural=True
    ),
}
IN_TIME: Table = {
    "start": Property(
        TIME.or_none(), None, "When it appears; from the beginning.", structural=True
    ),
    "end": Property(TIME.or_none(), None, "When it is gone; never.", structural=True),
}
PLACED: Table = {
    "parent": Property(
        NODE.or_none(), None, "The group that it is in.", structural=True, in_files=False
    ),
    "position": Property(_PLACE, (0.0, 0.0), "Where its anchor is, in pixels of its parent."),
    "size": Property(_SIZE, (0.0, 0.0), "In pixels; 0 is as large as its content."),
    "scale": Property(
        kinds.read_scale(kinds.numbers(2, "(x, y)", -1000, 1000)), (1.0, 1.0), "About its anchor."
    ),
    "rotation": Property(kinds.number(), 0.0, "Degrees, clockwise, about its anchor."),
    "anchor": Property(
        kinds.numbers(2, "(x, y)", -100, 100),
        (0.0, 0.0),
        "(0, 0) is its left top corner, (1, 1) the other.",
    ),
    "opacity": Property(_UNIT, 1.0, "0 is invisible."),
    "z_index": Property(kinds.whole(-1_000_000, 1_000_000), 0, "Higher is in front."),
    "visible": Property(FLAG, True, "A hidden node costs nothing."),
    "fit": Property(kinds.word(*FITS), "stretch", "How its content fills its size."),
    "crop": Property(
        kinds.numbers(4, "(left, top, right, bottom)", 0, 1).or_none(),
        None,
        "The part of its content that is shown, as shares of it.",
    ),
    "corner_radius": Property(kinds.number(0, LARGEST), 0.0, "Of round corners, in pixels."),
    "border": Property(BORDER.or_none(), None, "A line around it."),
    "shadow": Property(SHADOW.or_none(), None, "What it throws on what is below."),
    "blend": Property(kinds.word(*BLENDS), "over", "How it meets what is below."),
    "weight": Property(
        kinds.number(0, 1000),
        1.0,
        "In a row or column: its share of the room; 0 keeps its own size.",
    ),
}
VISUAL: Table = {**ROOT, **IN_TIME, **PLACED}
SOUND: Table = {
    "volume": Property(kinds.number(0, 16), 1.0, "1 is as loud as it is."),
    "mute": Property(FLAG, False, "Silent."),
    "pan": Property(kinds.number(-1, 1), 0.0, "-1 is left, 1 is right."),
    "fade_in_ms": Property(
        MILLISECONDS, Fraction(0), "From silence, at its start.", structural=True
    ),
    "fade_out_ms": Property(MILLISECONDS, Fraction(0), "To silence, at its end.", structural=True),
    "duck": Property(_UNIT, 0.0, "How much it turns the others down while it is heard."),
}
SOURCE: Table = {
    "source_start": Property(TIME, Fraction(0), "Where in its source it begins.", structural=True),
    "source_end": Property(TIME.or_none(), None, "Where in its source it ends.", structural=True),
    "speed": Property(kinds.number(0.01, 100), 1.0, "2 is twice as fast.", structural=True),
    "pauses": Property(
        PAUSES,
        (),
        "When it stands still, since its start, and how long; null: for good.",
        structural=True,
    ),
    "loop": Property(FLAG, False, "Begins again at its end.", structural=True),
}
VIDEO: Table = {
    **VISUAL,
    "stream": Property(
        MEDIA, None, "A file, camera, screen, address, array or scene.", required=True
    ),
    "size": Property(_SIZE, (1920.0, 1080.0), "In pixels; 0 is as large as its content."),
    "pip": Property(FLAG, False, "A picture in picture: pip_position and pip_size hold."),
    "pip_position": Property(
        _PLACE.or_none(),
        None,
        "Of a picture in picture; the right top corner, 20 pixels from both edges.",
    ),
    "pip_size": Property(_SIZE, (200.0, 150.0), "Of a picture in picture."),
    **SOURCE,
    **SOUND,
}
TEXT: Table = {
    **VISUAL,
    "text": Property(kinds.TEXT, "", "What it says, as it is; or runs [text, {style}]."),
    "font": Property(kinds.string().or_none(), None, "A family or a file; dala's own."),
    "font_size": Property(kinds.number(1, 1024), 32.0, "In pixels."),
    "color": Property(PAINT, (255, 255, 255, 255), "A colour or a gradient."),
    "font_weight": Property(kinds.whole(1, 1000), 400, "700 is bold."),
    "italic": Property(FLAG, False, "Slanted."),
    "outline": Property(OUTLINE.or_none(), None, "A line around its letters."),
    "background": Property(BOX.or_none(), None, "A box behind it."),
    "align": Property(
        kinds.word("start", "end", "left", "center", "right", "justify"), "start", "Of its lines."
    ),
    "vertical_align": Property(kinds.word("top", "middle", "bottom"), "top", "Within its size."),
    "direction": Property(kinds.word("auto", "ltr", "rtl"), "auto", "Of its paragraphs."),
    "language": Property(kinds.string(35).or_none(), None, "A tag like 'ja'."),
    "line_height": Property(kinds.number(0.1, 10), 1.2, "Times its font's size."),
    "letter_spacing": Property(kinds.number(-100, 1000), 0.0, "Pixels between letters."),
    "max_lines": Property(
        kinds.whole(1, 10_000).or_none(), None, "What is beyond ends in an ellipsis."
    ),
    "reveal": Property(_UNIT, 1.0, "How much of it is written already."),
}
SHAPE: Table = {
    **VISUAL,
    "shape": Property(
        kinds.word("rect", "ellipse", "line", "polygon", "path"), "rect", "What is drawn."
    ),
    "size": Property(_SIZE, (100.0, 100.0), "In pixels."),
    "fill": Property(PAINT.or_none(), (255, 255, 255, 255), "A colour, a gradient, or nothing."),
    "stroke": Property(COLOR.or_none(), None, "The colour of its line."),
    "stroke_width": Property(kinds.number(0, 1024), 2.0, "In pixels."),
    "points": Property(kinds.POINTS, (), "Of a line or polygon, in pixels of the node."),
    "path": Property(kinds.string(1_000_000), "", "Of a path: as SVG writes it."),
}
GROUP: Table = {**VISUAL, "clip": Property(FLAG, False, "Cut off what is outside its size.")}
SUBTITLES: Table = {
    **GROUP,
    "subtitles": Property(
        MEDIA_SUBTITLES, None, "A file of SRT, WebVTT or ASS, its text, or cues.", required=True
    ),
    "size": Property(_SIZE, (0.0, 0.0), "The box that cues stand in; 0 is all of its parent."),
    "font": Property(
        kinds.string().or_none(), None, "Where the file names none: a family or a file."
    ),
    "font_size": Property(
        kinds.number(1, 1024).or_none(), None, "In pixels; 5.33 % of the box's height."
    ),
    "color": Property(COLOR, (255, 255, 255, 255), "Where the file says none."),
    "outline": Property(OUTLINE.or_none(), Outline(), "A line around letters."),
    "shadow": Property(SHADOW.or_none(), None, "What letters throw on what is below."),
    "background": Property(BOX.or_none(), None, "A box behind the text."),
    "vertical_align": Property(
        kinds.word("auto", "top", "middle", "bottom"), "auto", "Of all cues; as the file says."
    ),
    **SOURCE,
}
LAYOUT: Table = {
    **GROUP,
    "size": Property(_SIZE, (0.0, 0.0), "In pixels; 0 is all of its parent."),
    "gap": Property(kinds.number(0, LARGEST), 0.0, "Between members."),
    "padding": Property(kinds.number(0, LARGEST), 0.0, "Around all of them."),
    "align": Property(
        kinds.word("stretch", *ALIGNS), "stretch", "Of a member in its cell; stretch fills it."
    ),
    "move_ms": Property(
        MILLISECONDS,
        Fraction(3, 10),
        "How long members move when one comes or goes.",
        structural=True,
    ),
    "easing": Property(kinds.EASING, EASINGS["ease_in_out"], "How they move."),
}
GRID: Table = {**LAYOUT, "columns": Property(kinds.whole(0, 1000), 0, "0 is as many as rows.")}
TILES: Table = {**LAYOUT, "aspect": Property(kinds.number(0.01, 100), 16 / 9, "Width by height.")}
EFFECT: Table = {
    **ROOT,
    **IN_TIME,
    "parent": PLACED["parent"],
    "filter": Property(FILTER, None, "A filter, a look, or a kernel's text.", required=True),
    "params": Property(PARAMS, Params(), "The filter's parameters."),
    "input": Property(
        NODE.or_none(), None, "The node it filters; everything below.", structural=True
    ),
    "opacity": Property(_UNIT, 1.0, "How much of the filtered picture is seen."),
    "z_index": PLACED["z_index"],
    "visible": PLACED["visible"],
}
ANIMATION: Table = {
    **ROOT,
    "target": Property(NODE, None, "The node that changes.", required=True, structural=True),
    "property": Property(
        kinds.string(100), None, "Which of its properties.", required=True, structural=True
    ),
    "from_": Property(VALUE.or_none(), None, "The first value; the one it has.", structural=True),
    "to": Property(VALUE.or_none(), None, "The last value.", structural=True),
    "keyframes": Property(
        KEYFRAMES.or_none(), None, "Values at times, instead of from and to.", structural=True
    ),
    "duration_ms": Property(MILLISECONDS, Fraction(3, 10), "Of one turn.", structural=True),
    "easing": Property(kinds.EASING, EASINGS["ease_in_out"], "How it goes.", structural=True),
    "delay_ms": Property(MILLISECONDS, Fraction(0), "Before it begins.", structural=True),
    "repeat": Property(kinds.REPEAT, 1, "How many turns.", structural=True),
    "alternate": Property(FLAG, False, "Every second turn goes backwards.", structural=True),
    "at": Property(TIME, Fraction(0), "When it begins.", structural=True),
    "cancelled": Property(TIME.or_none(), None, "When it was stopped.", structural=True),
}
TRANSITION: Table = {
    **ROOT,
    "a": Property(NODE, None, "The node that goes.", required=True, structural=True),
    "b": Property(NODE, None, "The node that comes.", required=True, structural=True),
    "kind": Property(
        FILTER, "fade", "One of xfade's names, or a kernel of two pictures.", structural=True
    ),
    "params": Property(PARAMS, Params(), "Its parameters.", structural=True),
    "duration_ms": Property(MILLISECONDS, Fraction(1, 2), "How long it takes.", structural=True),
    "easing": Property(kinds.EASING, EASINGS["linear"], "How it goes.", structural=True),
    "at": Property(TIME, Fraction(0), "When it begins.", structural=True),
}

TYPES: dict[str, NodeType] = {
    kind.name: kind
    for kind in (
        NodeType("video", "Moving pictures and their sound.", VIDEO),
        NodeType(
            "image",
            "A picture.",
            {
                **VISUAL,
                "image": Property(IMAGE, None, "A path, a picture, a loaded image.", required=True),
                "size": Property(_SIZE, (100.0, 100.0), "In pixels; 0 is as large as its content."),
            },
        ),
        NodeType(
            "overlay",
            "A picture over everything, in its own size.",
            {**VISUAL, "image": Property(IMAGE, None, "A path, a picture.", required=True)},
        ),
        NodeType("text", "Text in any script.", TEXT),
        NodeType("subtitles", "The cues of a film, at their times.", SUBTITLES),
        NodeType("shape", "A rectangle, an ellipse, a line, a polygon, a path.", SHAPE),
        NodeType("group", "Nodes that are moved, faded and filtered as one.", GROUP),
        NodeType("row", "Members side by side.", LAYOUT),
        NodeType("column", "Members one below the other.", LAYOUT),
        NodeType("grid", "Members in rows and columns.", GRID),
        NodeType("tiles", "Members as large as they can be in one proportion.", TILES),
        NodeType(
            "scene",
            "A scene in a scene.",
            {
                **VISUAL,
                "scene": Property(SCENE, None, "A scene, or a file of one.", required=True),
                **SOURCE,
                **SOUND,
            },
        ),
        NodeType(
            "audio",
            "Sound.",
            {
                **ROOT,
                **IN_TIME,
                "source": Property(MEDIA, None, "A file, or samples.", required=True),
                **SOURCE,
                **SOUND,
            },
        ),
        NodeType("effect", "A filter on a node, or on everything below.", EFFECT),
        NodeType("animation", "A property that changes in time.", ANIMATION),
        NodeType("transition", "From one node to another.", TRANSITION),
    )
}
CONTAINERS = ("group", "row", "column", "grid", "tiles")
LAYOUTS = ("row", "column", "grid", "tiles")
