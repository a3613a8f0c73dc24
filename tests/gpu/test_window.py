"""A real window, on a virtual screen: what is presented is what is on the screen.

Needs Xvfb, rendercanvas, glfw and a Vulkan driver (lavapipe will do). Without them the cases are skipped;
with DALA_REQUIRE_WINDOW=1, as in CI, they fail instead.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap

import pytest
from processes import environment
from screen import REQUIRED, missing, virtual_screen

from dala import gpu
from dala.errors import ParameterError, UnsupportedError
from dala.gpu.quad import fit

screen = pytest.fixture(virtual_screen)


def run(screen: dict[str, str], script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env=environment(**{**screen, "MALLOC_PERTURB_": "165"}),  # what is freed is not used again
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PICTURE = """
    import os, pathlib, time
    import numpy as np
    from dala import gpu
    from screen import screenshot

    surface = gpu.create_surface(320, 240)

    def picture(color):
        surface.clear(color)
        surface.fill_circle(160, 120, 70, "gold")
        surface.draw_line(0, 0, 319, 239, "white")
        surface.fill_rect(20, 150, 100, 60, (255, 0, 0, 128))
        surface.present().wait()

    def frame():
        return np.asarray(surface)[..., :3]

    def shown(wanted):
        "Poll until this picture is on the screen, which another process looks after."
        height, width = wanted.shape[:2]
        limit = time.monotonic() + 300
        while True:
            assert window.poll() and time.monotonic() < limit
            seen = screenshot(pathlib.Path(os.environ["SCREEN_FILE"]))[:height, :width]
            if np.array_equal(seen, wanted):
                return
"""


@pytest.mark.flaky(reruns=1)  # another process, which nobody here can hurry, looks after the screen
def test_the_screen_shows_what_is_presented(screen: dict[str, str]) -> None:
    script = (
        PICTURE
        + """
    events = []
    window = surface.show("hello", block=False, on={"resize": events.append, "close": events.append})
    for color in ("navy", "darkgreen"):
        picture(color)
        assert frame()[0, 1].tolist() == {"navy": [0, 0, 128], "darkgreen": [0, 100, 0]}[color]
        assert (np.asarray(surface)[..., 3] == 255).all()
        shown(frame())
    window.canvas.set_logical_size(600, 240)  # wider: black on both sides
    black = np.zeros((240, 140, 3), np.uint8)
    shown(np.hstack([black, frame(), black]))
    window.close()
    assert window.closed and not window.poll()
    print([e["event_type"] for e in events])
    """
    )
    said = run(screen, script)
    assert said.count("resize") >= 2
    assert "close" in said


@pytest.mark.webgpu
@pytest.mark.flaky(reruns=1)  # another process, which nobody here can hurry, looks after the screen
def test_a_frame_on_the_gpu_goes_straight_to_the_screen(screen: dict[str, str]) -> None:
    script = (
        PICTURE
        + """
    surface = gpu.create_surface(333, 241, device="webgpu")
    window = surface.show(block=False)
    surface.dispatch_compute(
        "@group(0) @binding(0) var<storage, read_write> pixels: array<u32>;"
        "@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) at: vec3u) {"
        "pixels[at.y * 333u + at.x] = pack4x8unorm(vec4f(vec2f(at.xy) / 333.0, 0.5, 1.0)); }",
        b"", (333, 241, 1))
    surface.present().wait()
    x, y = np.meshgrid(np.arange(333), np.arange(241))
    wanted = np.stack([np.rint(x / 333 * 255), np.rint(y / 333 * 255), np.full(x.shape, 128)], -1)
    shown(wanted.astype(np.uint8))
    assert surface._renderer.canvas.front.only_on_gpu  # nobody has read it back
    assert np.array_equal(frame(), wanted)
    assert frame()[240, 332].tolist() == [254, 184, 128]
    window.close()
    """
    )
    run(screen, script)


@pytest.mark.webgpu
@pytest.mark.flaky(reruns=1)  # another process, which nobody here can hurry, looks after the screen
def test_what_a_gpu_draws_is_shown_without_being_read(screen: dict[str, str]) -> None:
    """Frames are drawn, presented and shown: no download, and no upload of a frame."""
    script = (
        PICTURE
        + """
    from dala.backends.webgpu.staging import StagingRing
    from dala.gpu.quad import Quad

    asked = []

    def counting(owner, name):
        call = getattr(owner, name)
        def count(*args, **options):
            asked.append(name)
            return call(*args, **options)
        setattr(owner, name, count)

    surface = gpu.create_surface(320, 240, device="webgpu")
    picture("navy")
    wanted = frame()  # read before anything is counted
    for name in ("begin_read_part", "begin_read_run", "content", "download"):
        counting(StagingRing, name)
    counting(Quad, "_upload")
    counting(Quad, "_bind_memory")
    window = surface.show(block=False)
    picture("navy")
    shown(wanted)
    for number in range(5):
        picture("navy")
        assert window.poll()
    assert surface._renderer.canvas.front.only_on_gpu
    print(sorted(set(asked)), asked.count("_bind_memory"))
    window.close()
    """
    )
    assert run(screen, script) == "['_bind_memory'] 6\n"


def test_frames_until_the_window_is_closed(screen: dict[str, str]) -> None:
    script = (
        PICTURE
        + """
    seen = []

    def frame(s, seconds):
        seen.append(seconds)
        s.clear("red")
        s.present()
        if len(seen) == 10:
            import rendercanvas.glfw as backend
            for canvas in backend.loop.get_canvases():
                canvas.close()

    assert surface.show(frame=frame, fps=100) is None
    assert len(seen) >= 10 and seen == sorted(seen)
    print("closed")
    """
    )
    assert "closed" in run(screen, script)


def test_ctrl_c_in_the_middle_of_a_frame(screen: dict[str, str]) -> None:
    """The window closes when the frame is done; closing it at once would abort the process."""
    script = """
    import os, signal
    from dala import gpu

    surface = gpu.create_surface(64, 48)
    window = surface.show(block=False)
    context = window._quad._context
    take = context.get_current_texture

    def interrupted():
        texture = take()
        os.kill(os.getpid(), signal.SIGINT)
        return texture

    context.get_current_texture = interrupted
    window.run()
    print(window.closed)
    """
    assert run(screen, script) == "True\n"


DRAWING = """
    import random, signal
    from dala import gpu

    surface = gpu.create_surface(64, 48)

    def draw(surface, seconds):
        surface.clear("red")
        surface.present()
"""


def test_ctrl_c_at_any_moment_of_a_loop(screen: dict[str, str]) -> None:
    """The window is closed and the loop ends; whether it was just begun, drawing, or within GLFW."""
    script = (
        DRAWING
        + """
    open_now = False

    def alarm(*_):
        if open_now:
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGALRM, alarm)
    chance = random.Random(0)
    for number in range(13):
        window = surface.show(frame=draw, block=False, fps=1000)
        try:
            open_now = number > 0  # the first one imports: an interrupt may be lost in there
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 0.1), 5)  # again, if lost
            if open_now:
                window.run()
        except KeyboardInterrupt:  # before the loop was there to take it
            pass
        while open_now:
            try:
                open_now = False
            except KeyboardInterrupt:
                pass
        window.close()
        assert window.closed
    print("still here")
    """
    )
    assert run(screen, script) == "still here\n"


def test_ctrl_c_at_any_moment_of_a_poll(screen: dict[str, str]) -> None:
    """It is raised, and the window can be used on: no frame is left half drawn."""
    script = (
        DRAWING
        + """
    from interrupting import interrupt_often

    window = surface.show(frame=draw, block=False, on={"resize": lambda event: None})
    sizes = iter(range(10**9))

    def work():
        window.canvas.set_logical_size(100 + next(sizes) % 60, 80)
        assert window.poll()

    def check():
        assert window.poll()

    interrupt_often(40, work, check)
    window.close()
    print(window.closed)
    """
    )
    assert run(screen, script) == "True\n"


def test_closing_in_a_handler_of_a_new_size(screen: dict[str, str]) -> None:
    script = """
    from dala import gpu

    def shut(event):
        window.close()

    window = gpu.create_surface(64, 48).show(block=False, on={"resize": shut})
    while window.poll():
        pass
    print(window.closed)
    """
    assert run(screen, script) == "True\n"


def test_what_draws_into_a_window_goes_before_it(screen: dict[str, str]) -> None:
    """Released after GLFW has ended, it crashes the process; so at the end windows are closed first."""
    script = """
    import atexit, gc, weakref
    from dala import gpu
    import rendercanvas.glfw as backend

    surface = gpu.create_surface(64, 48)
    gc.disable()
    closed, left_open = surface.show(block=False), surface.show(block=False)
    for window in (closed, left_open):
        window.poll()
    drawing = weakref.ref(closed._quad._context)
    closed.close()
    print(drawing() is None, len(backend.loop.get_canvases()))
    atexit._run_exitfuncs()
    print(left_open.closed, left_open._quad)
    """
    assert run(screen, script) == "True 1\nTrue None\n"


def test_closing_in_the_function_that_draws(screen: dict[str, str]) -> None:
    script = """
    import logging
    from dala import gpu

    logging.getLogger("rendercanvas").addHandler(logging.StreamHandler(__import__("sys").stdout))

    def frame(surface, seconds):
        window.close()

    window = gpu.create_surface(64, 48).show(frame=frame, block=False)
    print(window.poll(), window.closed)
    """
    assert run(screen, script) == "False True\n"


def test_frames_larger_than_the_screen_and_than_textures(screen: dict[str, str]) -> None:
    script = """
    from dala import gpu
    from dala.errors import UnsupportedError
    import rendercanvas.glfw as backend

    window = gpu.create_surface(1600, 900).show(block=False)
    print(window.poll(), window.canvas.get_logical_size())
    window.close()
    try:
        gpu.create_surface(32768, 2).show(block=False)
    except UnsupportedError as error:
        print(error, len(backend.loop.get_canvases()))
    """
    said = run(screen, script).splitlines()
    assert said[0] == "True (640.0, 360.0)"
    assert "show: this GPU shows at most" in said[1]
    assert said[1].endswith("32768 × 2; save() it to a file 0")


def test_keys_and_pointers_arrive(screen: dict[str, str]) -> None:
    script = (
        PICTURE
        + """
    got = []
    window = surface.show(block=False, on={"key_down": got.append, "pointer_down": got.append})
    window.canvas.submit_event({"event_type": "key_down", "key": "a", "modifiers": ()})
    window.canvas.submit_event({"event_type": "pointer_down", "x": 10.5, "y": 20.5, "button": 1})
    window.poll()
    print(got[0]["key"], got[1]["pixel"])
    window.close()
    """
    )
    assert run(screen, script).strip().endswith("a (10, 20)")


def test_what_ends_show(screen: dict[str, str]) -> None:
    script = """
    from dala import gpu

    surface = gpu.create_surface(64, 48)
    seen = []

    def fails(surface, seconds):
        raise KeyError("mine")

    try:
        surface.show(frame=fails)
    except KeyError as error:
        seen.append(error.args)

    def ends(surface, seconds):
        seen.append("frame")
        return False

    surface.show(frame=ends)
    window = surface.show(block=False, on={"key_down": fails})  # called with one argument
    window.canvas.submit_event({"event_type": "key_down", "key": "a", "modifiers": ()})
    try:
        while window.poll():
            pass
    except TypeError:
        seen.append(window.closed)
    print(seen)
    surface.show(frame=lambda surface, seconds: surface.destroy())
    print(surface.closed)
    """
    assert run(screen, script) == "[('mine',), 'frame', True]\nTrue\n"


def test_keys_that_are_down(screen: dict[str, str]) -> None:
    script = """
    from dala import gpu

    surface = gpu.create_surface(64, 48)
    window = surface.show(block=False)
    for kind in ("key_down", "key_up"):
        for key in ("a", "ArrowLeft") if kind == "key_down" else ("a",):
            window.canvas.submit_event({"event_type": kind, "key": key, "modifiers": ()})
        window.poll()
        print(sorted(surface.keys))
    window.close()
    """
    assert run(screen, script) == "['ArrowLeft', 'a']\n['ArrowLeft']\n"


def test_gamepads_that_are_held(screen: dict[str, str]) -> None:
    """One is plugged in, pressed, exchanged for another model, unplugged; joysticks are left alone."""
    script = """
    import types
    from dala import gpu

    class Glfw:
        pads = {}
        joystick_present = staticmethod(lambda number: number in Glfw.pads or number == 7)
        joystick_is_gamepad = staticmethod(lambda number: number in Glfw.pads)
        get_gamepad_name = staticmethod(lambda number: Glfw.pads[number][0])
        get_joystick_guid = staticmethod(lambda number: b"0300" + Glfw.pads[number][0].encode())
        get_gamepad_state = staticmethod(lambda number: Glfw.pads[number][1])

    def pad(name, *pressed, x=0.0, trigger=-1.0):
        buttons = [int(number in pressed) for number in range(15)]
        state = types.SimpleNamespace(buttons=buttons, axes=[x, 0.0, 0.0, 0.0, -1.0, trigger])
        return name, state

    surface = gpu.create_surface(64, 48)
    told = []
    kinds = ("gamepad_connect", "gamepad_disconnect", "gamepad_down", "gamepad_up")

    def note(event):
        told.append((event["event_type"][8:], event["gamepad"].name, event.get("button")))

    seen = []
    window = surface.show(
        frame=lambda surface, seconds: seen.append(surface.gamepads),
        on=dict.fromkeys(kinds, note), block=False,
    )
    assert window.poll() and window._gamepads._glfw.__name__ == "glfw"  # the real one
    window._gamepads._glfw = Glfw
    for pads in (
        {2: pad("One")},
        {2: pad("One", 0, 14, x=-0.5, trigger=0.0)},
        {2: pad("One", 14), 0: pad("Two", 4)},
        {2: pad("Three")},
        {},
    ):
        Glfw.pads = pads
        assert window.poll()
    last = seen[-4][0]
    print(told)
    print(last.number, sorted(last.buttons), last.axes["leftx"], last.axes["righttrigger"])
    print([[p.name for p in pads] for pads in seen[-5:]])
    Glfw.pads = {2: pad("One")}
    window.poll()
    window.close()
    print(surface.gamepads)
    """
    wanted = [
        ("connect", "One", None),
        ("down", "One", "a"), ("down", "One", "dpleft"),
        ("connect", "Two", None), ("down", "Two", "leftshoulder"), ("up", "One", "a"),
        ("disconnect", "Two", None), ("disconnect", "One", None), ("connect", "Three", None),
        ("disconnect", "Three", None),
    ]  # fmt: skip
    said = run(screen, script).splitlines()
    assert ast.literal_eval(said[0]) == wanted
    assert said[1] == "2 ['a', 'dpleft'] -0.5 0.5"
    assert said[2] == "[['One'], ['One'], ['Two', 'One'], ['Three'], []]"
    assert said[3] == "()"


# -- without a screen ------------------------------------------------------------------------------


def test_proportions_are_kept() -> None:
    assert fit((640, 480), (320, 240)) == (0, 0, 640, 480)
    assert fit((600, 240), (320, 240)) == (140, 0, 320, 240)
    assert fit((320, 480), (320, 240)) == (0, 120, 320, 240)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with (
        gpu.create_surface(8, 8, device="cpu") as surface,
        pytest.raises(UnsupportedError, match=r"pip install 'dala-gpu\[window\]'"),
    ):
        surface.show(block=False)


def test_without_a_screen_it_says_so() -> None:
    if missing() and not REQUIRED:
        pytest.skip(missing())
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    script = """
    from dala import gpu
    from dala.errors import UnsupportedError
    try:
        gpu.create_surface(8, 8, device="cpu").show(block=False)
    except UnsupportedError as error:
        print(error)
    """
    if sys.platform == "linux":
        assert "no window can be opened here" in run(env, script)


def test_unknown_events_are_refused() -> None:
    with (
        gpu.create_surface(8, 8, device="cpu") as surface,
        pytest.raises(ParameterError, match="no event 'key_dwn'; did you mean 'key_down'"),
    ):
        surface.show(on={"key_dwn": print}, block=False)
