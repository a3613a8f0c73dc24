"""The end of the process, beside daemon threads that never end: nothing hangs, nothing crashes."""

from __future__ import annotations

import pytest
from processes import run_to_the_end

LOOPS = """
    import sys, threading
    import numpy as np
    import dala
    from dala import compute, gpu, media, video
    from dala.compute import commands
    from dala.compute.pipelines import Pipeline

    kind, device = sys.argv[1:]
    dala.use(device)
    image = np.zeros((120, 160, 4), np.uint8)

    def blurring():
        a, b = compute.from_array(image), compute.from_array(image)
        stage = {"kernel": "blur", "inputs": [a], "output": b, "params": {"radius": 3}}
        return Pipeline(a.engine).add(stage), b

    def media_function():
        return lambda: media.blur(image, radius=3)

    def pipeline_read():
        pipeline, b = blurring()
        return lambda: (pipeline.run(), b.read())

    def pipeline_submit():
        return blurring()[0].submit

    def full_queue():
        commands.QUEUED = 4
        return pipeline_submit()

    def pipeline_submit_wait():
        pipeline, _ = blurring()
        return lambda: pipeline.submit().wait()

    def compiling():
        numbers = iter(range(1, 10**9))
        return lambda: media.blur(image[: 8 + next(numbers) % 50], radius=1 + next(numbers) % 9)

    def surface():
        surface = gpu.create_surface(160, 120)
        surface.fill_circle(80, 60, 40, "red")
        surface.present().wait()
        return lambda: (surface.fill_circle(80, 60, 40, "red"), surface.present())

    def frames():
        frames = media.start_pipeline(160, 120)
        return lambda: frames.submit(image, ["blur"])

    def reader():
        frames = iter(())

        def step():
            nonlocal frames
            frame = next(frames, None)
            if frame is None:
                frames = iter(video.Reader("testsrc", latest=True))
            else:
                media.blur(frame.rgba, radius=2)

        return step

    begun = threading.Semaphore(0)

    def forever():
        step = globals()[kind]()
        step()
        begun.release()
        while True:
            step()

    globals()[kind]()()  # what is made once is there
    for _ in range(3):
        threading.Thread(target=forever, daemon=True).start()
    for _ in range(3):
        begun.acquire()
    print("leaving")
"""
KINDS = (
    "media_function", "pipeline_read", "pipeline_submit", "full_queue", "pipeline_submit_wait",
    "compiling", "surface", "frames", "reader",
)  # fmt: skip


@pytest.mark.parametrize(
    "device", ["cpu", "webgpu"], indirect=True
)  # the reference is no other way
@pytest.mark.parametrize("kind", KINDS)
def test_daemon_threads_are_left_behind(device: str, kind: str) -> None:
    code, out, errors = run_to_the_end(LOOPS, kind, device)
    assert (code, out) == (0, "leaving\n"), errors
    assert "Traceback" not in errors
    assert "panicked" not in errors


def test_what_the_main_thread_has_asked_for_is_done(device: str) -> None:
    """And what that depends on; but not what only daemon threads asked for, without end."""
    text = """
        import atexit, sys, threading
        import dala
        from dala import compute
        dala.use(sys.argv[1])
        a, b, mine, seen, one = (compute.buffer([n]) for n in (0.0, 0.0, 0.0, 0.0, 1.0))
        piled_up = threading.Event()

        def submit_sum(x, y, out):
            compute.submit({"kernel": "elementwise_add", "inputs": [x, y], "output": out})

        def forever():
            for _ in range(100):
                submit_sum(a, one, a)
            piled_up.set()
            while True:
                submit_sum(b, one, b)

        @atexit.register
        def tell():
            print(compute.read_list(mine), compute.read_list(seen)[0] >= 100)

        threading.Thread(target=forever, daemon=True).start()
        piled_up.wait()
        for _ in range(50):
            submit_sum(mine, one, mine)
        submit_sum(a, one, seen)  # behind what the other thread has submitted
    """
    code, out, errors = run_to_the_end(text, device)
    assert (code, out) == (0, "[50.0] True\n"), errors


def test_functions_that_run_at_the_very_end_can_use_everything(device: str) -> None:
    """Registered before dala was imported, so called after it has closed its threads."""
    text = """
        import atexit, sys, threading
        import numpy as np

        @atexit.register
        def last():
            a = compute.from_array(image)
            command = compute.run_kernel_async("invert", [a], a)
            command.wait()
            print(int(a.read()[0, 0, 0]), int(media.invert(image)[0, 0, 0]))

        import dala
        from dala import compute, media
        dala.use(sys.argv[1])
        image = np.full((120, 160, 4), 5, np.uint8)
        begun = threading.Event()

        def forever():
            while True:
                media.blur(image, radius=3)
                compute.run_kernel_async("sqrt", [compute.buffer([4.0])], compute.buffer([0.0]))
                begun.set()

        threading.Thread(target=forever, daemon=True).start()
        begun.wait()
    """
    code, out, errors = run_to_the_end(text, device)
    assert (code, out) == (0, "250 250\n"), errors


LEFT_BEHIND = """
    import atexit, itertools, sys, threading

    @atexit.register
    def last():
        assert returned.wait(300)
        try:
            newest.wait(300)
        except dala.errors.CommandError as error:
            print(error)

    import dala
    from dala import compute
    from dala.backends.host import HostExecutable
    from dala.backends.webgpu.execute import GpuExecutable
    from dala.compute import commands, running

    dala.use(sys.argv[1])
    placed, chosen, returned = threading.Event(), threading.Event(), threading.Event()

    def held(launch):
        "The first command is under way until the interpreter has chosen what it leaves behind."
        def hold(*args, **options):
            assert chosen.wait(300)
            return launch(*args, **options)
        return hold

    for kind in (HostExecutable, GpuExecutable):
        kind.launch = held(kind.launch)

    def needed(asked_for, choose=running._needed):
        found = choose(asked_for)
        chosen.set()
        return found

    running._needed = needed
    a = compute.buffer([4.0])

    def submit():
        return compute.submit({"kernel": "sqrt", "inputs": [a], "output": a})
"""


def test_a_command_that_was_left_behind_says_so(device: str) -> None:
    text = (
        LEFT_BEHIND
        + """
    def forever():
        global newest
        for number in itertools.count():
            newest = submit()
            if number == 100:
                returned.set()
            if number > 100:
                chosen.wait()  # or there would be no end of them

    threading.Thread(target=forever, daemon=True).start()
    assert returned.wait(300)
    """
    )
    code, out, errors = run_to_the_end(text, device)
    assert code == 0, errors
    assert "sqrt: the interpreter left before it began\n" in out  # or one behind it failed with it


def test_one_that_is_just_being_submitted_is_left_behind_too(device: str) -> None:
    """And not taken for one that is waited for, with all that are queued before it."""
    text = (
        LEFT_BEHIND
        + """
    def forever():
        global newest
        for _ in range(100):
            submit()

        class ThenWait:
            "A command is placed under the lock; this thread is held when it has just left it."

            def __enter__(self, lock=commands.lock):
                lock.acquire()

            def __exit__(self, *_, lock=commands.lock, here=threading.get_ident()):
                lock.release()
                if threading.get_ident() == here:
                    placed.set()
                    assert chosen.wait(300)

        commands.lock = ThenWait()
        newest = submit()
        returned.set()

    threading.Thread(target=forever, daemon=True).start()
    assert placed.wait(300)
    """
    )
    code, out, errors = run_to_the_end(text, device)
    assert (code, out) == (0, "sqrt: the interpreter left before it began\n"), errors


def test_a_daemon_thread_that_asks_for_it_ends_in_silence(device: str) -> None:
    """It waits only when its command has been dropped: an error would be printed with a traceback."""
    text = (
        LEFT_BEHIND
        + """
    def once():
        global newest
        for _ in range(100):
            newest = submit()
        placed.set()
        assert chosen.wait(300)
        while not newest.done:
            threading.Event().wait(0.01)
        try:
            newest.wait()
        except SystemExit:
            print("ended")
            raise
        finally:
            returned.set()

    threading.Thread(target=once, daemon=True).start()
    assert placed.wait(300)
    """
    )
    code, out, errors = run_to_the_end(text, device)
    assert (code, out) == (0, "ended\nsqrt: the interpreter left before it began\n"), errors
    assert "Traceback" not in errors


def test_helpers_that_come_late_do_what_they_were_given() -> None:
    """The interpreter may be leaving before a thread of the pool has run its first line."""
    text = """
        import threading
        from dala import leaving, threads

        def late(self, serve=threads.Runners._serve):
            while not leaving.has_begun():
                gone.wait(0.01)
            serve(self)

        def work():
            with leaving.native:  # turned away, it would raise
                print("done")

        gone = threading.Event()
        threads.Runners._serve = late
        print(threads.Runners("late", 2).put(work))
    """
    code, out, errors = run_to_the_end(text)
    assert (code, out) == (0, "True\ndone\n"), errors


def test_a_thread_that_is_no_daemon_is_waited_for(device: str) -> None:
    text = """
        import sys, threading
        import dala
        from dala import compute
        dala.use(sys.argv[1])
        a, one = compute.buffer([0.0]), compute.buffer([1.0])

        def work():
            for _ in range(200):
                compute.run_kernel("elementwise_add", [a, one], a)
            print(compute.read_list(a))

        threading.Thread(target=work).start()
    """
    code, out, errors = run_to_the_end(text, device)
    assert (code, out) == (0, "[200.0]\n"), errors
