"""Scenes as files: what is saved is loaded, the schema takes it, what is wrong is named with its place."""

from __future__ import annotations

import copy
import json
import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from random_scenes import random_scene

from dala import media, scene
from dala.errors import DalaError, ParameterError, SceneFileError, SceneSourceError
from dala.scene import Scene
from dala.scene.files.writing import to_document

PUBLISHED = Path(scene.__file__).with_name("files") / "schema.json"


def validator() -> Any:
    return jsonschema.Draft202012Validator(scene.schema())


def rich(folder: Path) -> Scene:
    """Every type of node that a file can hold."""
    media.save(np.full((6, 8, 4), (255, 0, 0, 255), np.uint8), folder / "red.png")
    stage = Scene(64, 48, target_fps=Fraction(30000, 1001), background="#102030")
    image = stage.add_image(
        str(folder / "red.png"), size=(10, 10), border=(2, "white"), shadow=True
    )
    video = stage.add_video(
        str(folder / "red.png"), pip=True, pip_size=(20, 15), start=Fraction(1, 3)
    )
    inner = Scene(16, 16, background="navy")
    inner.add_text("in")
    stage.add_scene(inner, position=(30, 30), end=2.5)
    row = stage.add_row(gap=2, size=(64, 10), move_ms=250, easing="spring(80, 8, 2)")
    for color in ("red", "#00ff0080"):
        stage.add_shape(fill=color, parent=row, corner_radius=3)
    stage.add_shape(
        "path", path="M0 0 L9 0 L0 9 Z", fill={"linear": ["red", "blue"], "angle": 90}, parent=row
    )
    title = stage.add_text(
        [("Hi ", {}), ("you", {"color": "gold", "size": 20})], name="title", outline="black"
    )
    stage.animate(title, "color", from_="red", to="#0000ff80", repeat="forever", alternate=True)
    stage.keyframes(title, "position", {0.5: (0, 0), 1.0: (10, 5), 2.0: (3, 3)}, "steps(4)")
    stage.add_effect("blur", input=image, radius=2)
    everything = stage.add_effect("brightness", value=0.1, z_index=9)
    stage.animate(everything, "value", to=0.4, at=0.25)
    stage.transition(image, video, "fade", at=1.5)
    return stage


def same(first: Scene, second: Scene, *times: float) -> None:
    for time in times:
        assert np.array_equal(first.render(time).to_array(), second.render(time).to_array()), time


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    with rich(tmp_path) as stage:
        path = scene.save(stage, tmp_path / "rich.json")
        document = json.loads(path.read_text(encoding="utf-8"))
        assert [str(problem.message) for problem in validator().iter_errors(document)] == []
        assert document["fps"] == "30000/1001" and document["nodes"][0]["image"] == "red.png"
        with scene.load(path) as loaded:
            same(stage, loaded, 0.0, 0.6, 1.6, 1.9, 3.0)
            assert to_document(loaded, tmp_path) == document
    assert scene.check(path) == []
    assert sorted(os.listdir(tmp_path)) == ["red.png", "rich.json"]


def test_random_scenes_are_what_the_schema_takes(tmp_path: Path) -> None:
    checks = validator()
    written = 0
    refused: list[str] = []
    for seed in range(40):
        with random_scene(random.Random(seed)) as stage:
            try:
                document = to_document(stage)
            except SceneFileError as error:
                refused.append(str(error))  # an array, which is in no file
                continue
            path = tmp_path / f"{seed}.json"
            path.write_text(json.dumps(document))
            assert [problem.message for problem in checks.iter_errors(document)] == []
            with scene.load(path) as loaded:
                same(stage, loaded, 0.3, 1.1)
            written += 1
    assert written >= 5
    assert all(line.startswith("/nodes/") and "which no file can" in line for line in refused)


def test_the_published_schema_is_the_one_of_the_tables() -> None:
    text = json.dumps(scene.schema(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("DALA_UPDATE_GOLDEN"):
        PUBLISHED.write_text(text, encoding="utf-8")
    assert PUBLISHED.read_text(encoding="utf-8") == text
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


# -- what is wrong ---------------------------------------------------------------------------------

BASE: dict[str, Any] = {
    "format": "dala.scene",
    "version": 1,
    "width": 64,
    "height": 48,
    "nodes": [
        {
            "type": "text",
            "name": "title",
            "text": "Hi",
            "animations": [{"property": "opacity", "to": 0}],
        },
        {"type": "group", "nodes": [{"type": "shape", "effects": [{"filter": "blur"}]}]},
    ],
}


def put(path: str, value: object) -> dict[str, Any]:
    document = copy.deepcopy(BASE)
    place: Any = document
    *keys, last = path.strip("/").split("/")
    for key in keys:
        place = place[int(key) if isinstance(place, list) else key]
    if isinstance(place, list):
        place.append(value) if int(last) == len(place) else place.__setitem__(int(last), value)
    else:
        place[last] = value
    return document


@pytest.mark.parametrize(
    ("where", "value", "says"),
    [
        ("/nodes/0/opacity", 2, "0 to 1"),
        ("/nodes/0/opacty", 1, "did you mean 'opacity'"),
        ("/nodes/0/type", "txt", "did you mean 'text'"),
        ("/nodes/0/color", "redd", "did you mean 'red'"),
        ("/nodes/0/start", "1/0", "a fraction"),
        ("/nodes/0/animations/0/property", "opacty", "did you mean 'opacity'"),
        ("/nodes/0/animations/0/to", 5, "0 to 1"),
        ("/nodes/0/animations/0/from_", 5, "has no property 'from_'"),
        ("/nodes/0/nodes", [], "has no nodes in it"),
        ("/nodes/1/nodes/0/effects/0/filter", "blurr", "did you mean 'blur'"),
        ("/nodes/1/nodes/0/effects/0/params", {"radius": -1}, "radius"),
        ("/nodes/1/nodes", {}, "a list of nodes"),
        ("/nodes/2", {"type": "transition", "a": "title", "b": "titel"}, "did you mean 'title'"),
        ("/nodes/2", {"type": "image"}, "image is missing"),
        ("/nodes/2", {"type": "image", "image": "missing.png"}, "there is no such file"),
        ("/nodes/2", {"type": "scene", "scene": {}}, 'expected "format"'),
        ("/nodes/2", 5, "expected a node"),
        ("/fps", 0, "frames a second"),
        ("/width", 0, "width is 1 to"),
        ("/background", "nope", "no colour"),
        ("/hight", 5, "did you mean 'height'"),
        ("/parameters", {"a": {"type": "txt"}}, "one of text"),
    ],
)
def test_errors_name_the_place(tmp_path: Path, where: str, value: object, says: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(put(where, value)))
    with pytest.raises(SceneFileError) as caught:
        scene.load(path)
    found = caught.value.where
    assert where.startswith(found) or found.startswith(where), str(caught.value)
    assert says in str(caught.value)
    assert str(scene.check(path)[0]) == str(caught.value)


def test_all_problems_are_listed(tmp_path: Path) -> None:
    document = put("/nodes/0/opacity", 2)
    document["nodes"][1]["rotation"] = "a"
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    assert [problem.where for problem in scene.check(path)] == [
        "/nodes/0/opacity",
        "/nodes/1/rotation",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ("[]", "expected an object"),
        ("{", "line 1 column 2"),
        ('{"width": 1, "width": 2}', "stands twice"),
        ('{"width": NaN}', "NaN is no number"),
        ("[" * 100_000, "deeper than"),
        ("[" * 100 + "]" * 100, "deeper than"),
        ('{"format": "other"}', 'expected "format"'),
        ('{"a": ' + "9" * 10_000 + "}", "the document"),
        ("\udcff", "no UTF-8"),
    ],
)
def test_what_is_no_scene(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SceneFileError, match=says):
        scene.load(path)


def test_strangers_can_be_wrong_but_do_no_harm(tmp_path: Path) -> None:
    """Values of all kinds at all places: a scene, or an error with a place."""
    values: tuple[object, ...] = (
        None, True, -1, 1e308, "x", "../../etc/passwd", [], {}, [[1, 2]], {"$param": "no"}, "1" * 100,
    )  # fmt: skip
    chance = random.Random(7)
    words = "text font font_size size crop shadow start scale border position animations effects language"
    keys = [f"/nodes/0/{key}" for key in words.split()]
    keys += [
        f"/nodes/0/animations/0/{key}" for key in ("to", "keyframes", "easing", "repeat", "at")
    ]
    keys += [f"/nodes/1/nodes/0/{key}" for key in ("fill", "points", "path", "shape", "stroke")]
    for key in keys:
        for value in chance.sample(values, 5):
            path = tmp_path / "some.json"
            path.write_text(json.dumps(put(key, value)))
            try:
                with scene.load(path) as loaded:
                    loaded.render(0.5)
            except DalaError:
                continue


def test_too_many_nodes(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    path.write_text(json.dumps({**BASE, "nodes": [{"type": "shape"}] * 10_001}))
    with pytest.raises(SceneFileError, match="at most 10000 nodes"):
        scene.load(path)


def test_a_file_within_itself(tmp_path: Path) -> None:
    path = tmp_path / "self.json"
    path.write_text(json.dumps({**BASE, "nodes": [{"type": "scene", "scene": "self.json"}]}))
    with pytest.raises(SceneFileError, match="at most 8 deep"):
        scene.load(path)


def test_arrays_are_in_no_file(tmp_path: Path) -> None:
    stage = Scene(8, 8)
    stage.add_image(np.zeros((4, 4, 4), np.uint8))
    with pytest.raises(SceneFileError, match=r"/nodes/0/image: .*save it and give its path"):
        scene.save(stage, tmp_path / "no.json")
    assert os.listdir(tmp_path) == []


# -- templates -------------------------------------------------------------------------------------

CARD: dict[str, Any] = {
    **BASE,
    "parameters": {
        "title": {"type": "text", "default": "Hello"},
        "size": {"type": "number", "default": 20, "min": 5, "max": 40},
        "shown": {"type": "flag", "default": True},
        "ink": {"type": "color", "default": "gold"},
        "side": {"type": "choice", "choices": ["left", "right"], "default": "left"},
    },
    "nodes": [
        {
            "type": "text",
            "name": "t",
            "text": {"$param": "title"},
            "font_size": {"$param": "size"},
            "visible": {"$param": "shown"},
            "color": {"$param": "ink"},
            "align": {"$param": "side"},
            "position": [{"$param": "size"}, 0],
        }
    ],
}


def test_templates(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(json.dumps(CARD))
    assert [problem.message for problem in validator().iter_errors(CARD)] == []
    node = scene.load(path).node("t")
    assert (node.text, node.font_size, node.visible, node.align) == ("Hello", 20, True, "left")
    node = scene.load(path, title="{x}", size="12.5", shown="no", ink="red", side="right").node("t")
    assert (node.text, node.font_size, node.visible, node.align) == ("{x}", 12.5, False, "right")
    assert node.position == (12.5, 0) and node.color == (255, 0, 0, 255)
    for wrong, says in (
        ({"titel": "a"}, "did you mean 'title'"), ({"size": "x"}, "a number from 5 to 40"),
        ({"size": 50}, "a number from 5 to 40"), ({"shown": "perhaps"}, "true or false"),
        ({"ink": "redd"}, "did you mean"), ({"side": "up"}, "one of left, right"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=says):
            scene.load(path, **wrong)


def test_a_parameter_without_a_value(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(
        json.dumps({**CARD, "parameters": {**CARD["parameters"], "title": {"type": "text"}}})
    )
    with pytest.raises(SceneFileError, match=r"/parameters/title: has no default"):
        scene.load(path)
    assert scene.load(path, title="Hi").node("t").text == "Hi"


# -- what a stranger's file may name -----------------------------------------------------------------

LOOK = {"type": "effect", "filter": "lut"}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A scene's folder, and one beside it: a picture in both, links and looks from one to the other."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        (folder / "frames").mkdir(parents=True)
        media.save(np.full((6, 8, 4), (255, 0, 0, 255), np.uint8), folder / "red.png")
        (folder / "noir.look").write_text("grayscale\n")
    (own / "link.png").symlink_to(other / "red.png")
    (own / "frames" / "1.png").symlink_to(other / "red.png")
    (own / "linked").symlink_to(other)
    (own / "far.look").write_text("grayscale\nblend top=../other/red.png\n")
    (own / "near.look").write_text("blend top=red.png\n")
    inner = {**BASE, "nodes": [{"type": "image", "image": "../other/red.png"}]}
    (own / "inner.json").write_text(json.dumps(inner))
    (other / "scene.json").write_text(json.dumps(BASE))
    return own, other


def written(own: Path, *nodes: dict[str, Any], **more: Any) -> Path:
    path = own / "some.json"
    path.write_text(json.dumps({**BASE, "nodes": nodes, **more}))
    return path


@pytest.mark.parametrize(
    ("node", "where"),
    [
        ({"type": "image", "image": "../other/red.png"}, "image"),
        ({"type": "image", "image": "/etc/hostname"}, "image"),
        ({"type": "image", "image": "link.png"}, "image"),
        ({"type": "overlay", "image": "linked/red.png"}, "image"),
        ({"type": "video", "stream": "frames/%d.png"}, "stream"),
        ({"type": "video", "stream": "frames/*.png"}, "stream"),
        ({"type": "video", "stream": "camera"}, "stream"),
        ({"type": "video", "stream": "camera:1"}, "stream"),
        ({"type": "video", "stream": "/dev/video0"}, "stream"),
        ({"type": "video", "stream": "screen"}, "stream"),
        ({"type": "video", "stream": "screen::0"}, "stream"),
        ({"type": "video", "stream": "rtsp://127.0.0.1:9/a"}, "stream"),
        ({"type": "video", "stream": "file:///etc/hostname"}, "stream"),
        ({"type": "audio", "source": "HTTP://127.0.0.1:9/a.mp3"}, "source"),
        ({"type": "audio", "source": "../other/a.wav"}, "source"),
        ({"type": "scene", "scene": "../other/scene.json"}, "scene"),
        ({"type": "scene", "scene": "inner.json"}, "scene/nodes/0/image"),
        (
            {"type": "scene", "scene": {**BASE, "nodes": [{"type": "video", "stream": "screen"}]}},
            "scene/nodes/0/stream",
        ),
        ({"type": "text", "text": "a", "font": "../other/a.ttf"}, "font"),
        ({"type": "text", "text": ["a", ["b", {"font": "/a/b.otf"}]]}, "text/1/1/font"),
        ({"type": "effect", "filter": "../other/noir.look"}, "filter"),
        ({"type": "effect", "filter": "linked/noir"}, "filter"),
        ({"type": "effect", "filter": "far.look"}, "filter"),
        ({**LOOK, "params": {"lut": "../other/a.cube"}}, "params/lut"),
        ({"type": "effect", "filter": "blend", "params": {"top": "link.png"}}, "params/top"),
        (
            {
                "type": "image",
                "image": "red.png",
                "animations": [{"property": "image", "to": "../other/red.png"}],
            },
            "animations/0/to",
        ),
        (
            {**LOOK, "animations": [{"property": "lut", "keyframes": [[0, "/a/b.cube"]]}]},
            "animations/0/keyframes/0/1",
        ),
    ],
)
def test_sources_outside_the_folder_are_refused(
    folders: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    node: dict[str, Any],
    where: str,
) -> None:
    own, _ = folders
    path = written(own, {"type": "group", "nodes": [node]})
    opened: list[object] = []
    monkeypatch.setattr(Scene, "add_read", lambda *args: opened.append(args) or 1)
    for given in (path, Path(os.path.relpath(path))):
        with pytest.raises(SceneSourceError, match="allow-sources") as caught:
            scene.load(given)
        assert caught.value.where == f"/nodes/0/nodes/0/{where}"
        assert [str(problem) for problem in scene.check(given)] == [str(caught.value)]
    assert not any(args[1] != "group" for args in opened)  # type: ignore[index]


def test_what_is_in_the_folder_is_found_from_there(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = folders
    (own / "frames" / "1.png").unlink()
    media.save(np.full((6, 8, 4), (0, 0, 255, 255), np.uint8), own / "frames" / "1.png")
    monkeypatch.chdir(other)
    path = written(
        own,
        {"type": "image", "image": "frames/../red.png", "animations": [
            {"property": "image", "to": "frames/1.png", "duration_ms": 100}]},
        {"type": "video", "stream": "frames/*.png"},
        {"type": "effect", "filter": "near.look"},
        {"type": "effect", "filter": "noir"},
        {"type": "effect", "filter": "blend", "params": {"top": "red.png"}},
    )  # fmt: skip
    with scene.load(path) as loaded:
        assert scene.check(path) == []
        nodes = loaded.nodes()
        assert loaded.render(0.5).to_array().any()
        again = to_document(loaded, own)
    assert len(nodes) == 6
    assert again["nodes"][0]["animations"][0]["to"] == "frames/1.png"
    assert again["nodes"][2]["filter"] == "near.look"
    assert again["nodes"][4]["params"]["top"] == "red.png"


def test_any_source_is_loaded_where_it_is_allowed(folders: tuple[Path, Path]) -> None:
    own, _ = folders
    path = written(
        own,
        {"type": "image", "image": "../other/red.png"},
        {"type": "scene", "scene": "inner.json"},
        {"type": "effect", "filter": "far.look"},
    )
    assert [problem.where for problem in scene.check(path)] == ["/nodes/0/image", "/nodes/2/filter"]
    assert scene.check(path, sources="any") == []
    with scene.load(path, sources="any") as loaded:
        assert loaded.render(0.0).to_array().any()
    with pytest.raises(ParameterError, match="'folder' or 'any'"):
        scene.load(path, sources="all")  # type: ignore[arg-type]


def test_a_users_parameter_is_allowed(folders: tuple[Path, Path]) -> None:
    own, other = folders
    elsewhere = str(other / "red.png")
    image = {"type": "image", "image": {"$param": "photo"}}
    inline = {"type": "scene", "scene": {**BASE, "nodes": [image]}}
    declared = {"photo": {"type": "file", "default": elsewhere}}
    path = written(own, image, inline, parameters=declared)
    with pytest.raises(SceneSourceError, match="/nodes/0/image"):  # the document's own word
        scene.load(path)
    with scene.load(path, photo=elsewhere) as loaded:
        assert loaded.render(0.0).to_array().any()
    (other / "shows.json").write_text(
        json.dumps({**BASE, "nodes": [{"type": "image", "image": "red.png"}]})
    )
    path = written(
        own, {"type": "scene", "scene": {"$param": "card"}}, parameters={"card": {"type": "file"}}
    )
    with scene.load(path, card=str(other / "shows.json")) as loaded:  # it has a folder of its own
        assert loaded.render(0.0).to_array().any()
    with pytest.raises(SceneSourceError, match="/nodes/0/scene/nodes/0/image"):
        scene.load(path, card=str(own / "inner.json"))
    declared["photo"] = {"type": "choice", "choices": [elsewhere]}  # type: ignore[dict-item]
    path = written(own, image, parameters=declared)
    with pytest.raises(SceneSourceError, match="/nodes/0/image"):
        scene.load(path, photo=elsewhere)
    path = written(own, parameters={"sources": {"type": "text", "default": "a"}})
    with pytest.raises(SceneFileError, match=r"/parameters/sources: .*another name"):
        scene.load(path)
