"""Sound: every sample at its place, whatever is asked for first."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from clips import Sound as Sine
from clips import write_clip

from dala import video
from dala.errors import ParameterError, VideoError
from dala.scene.sound import RATE, ArraySound, Gain, Mixer, SoundFile, Voice
from dala.scene.sound.resampling import at_speed
from dala.scene.sources import Pause, TimeMap

Waves = npt.NDArray[np.float32]


def noise(count: int, seed: int = 1, loud: float = 0.2) -> Waves:
    made = np.random.default_rng(seed).uniform(-loud, loud, (count, 2))
    return (np.round(made * 32768) / 32768).astype(np.float32)  # what 16 bits hold exactly


def impulse(count: int, at: int) -> Waves:
    made = np.zeros((count, 2), np.float32)
    made[at] = 0.5
    return made


def write_sound(path: Path, waves: Waves, rate: int, codec: str) -> Path:
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=rate, layout="stereo")
        for begin in range(0, len(waves), 4096):
            piece = (
                np.round(waves[begin : begin + 4096] * 32768).clip(-32768, 32767).astype(np.int16)
            )
            frame = av.AudioFrame.from_ndarray(piece.reshape(1, -1), "s16", "stereo")
            frame.sample_rate, frame.time_base, frame.pts = rate, Fraction(1, rate), begin
            converter = av.AudioResampler(stream.codec_context.format.name, "stereo", rate)
            for fitting in converter.resample(frame):
                fitting.pts, fitting.time_base = begin, Fraction(1, rate)
                out.mux(stream.encode(fitting))
        out.mux(stream.encode(None))
    return path


def pieces(ask: Callable[[int, int], Waves], total: int, seed: int) -> Waves:
    """All samples, asked for in random cuts and in random order."""
    random_ = random.Random(seed)
    edges = sorted({0, total, *(random_.randrange(total) for _ in range(12))})
    parts = list(itertools.pairwise(edges))
    random_.shuffle(parts)
    made = np.empty((total, 2), np.float32)
    for begin, end in parts:
        made[begin:end] = ask(begin, end)
    return made


@pytest.mark.parametrize("name", ["s.wav", "s.flac", "s.mkv"])
def test_pass_through_is_silence_in_a_null_test(name: str, tmp_path: Path) -> None:
    waves = noise(25 * RATE)  # three pieces
    codec = {"s.wav": "pcm_s16le", "s.flac": "flac", "s.mkv": "flac"}[name]
    sound = SoundFile(write_sound(tmp_path / name, waves, RATE, codec))
    mixer = Mixer([Voice(sound)])
    assert sound.length == pytest.approx(len(waves), abs=RATE // 500)
    assert np.array_equal(mixer.mix(0, len(waves)), waves)
    assert not mixer.mix(len(waves), len(waves) + 5000).any()
    sound.close()


@pytest.mark.parametrize(
    ("name", "codec"), [("s.mp4", "aac"), ("s.mkv", "libopus"), ("s.mp3", "libmp3lame")]
)
def test_any_order_and_any_cut_give_the_same_samples(name: str, codec: str, tmp_path: Path) -> None:
    path = write_sound(tmp_path / name, noise(23 * RATE), RATE, codec)
    one, two = SoundFile(path), SoundFile(path)
    total = 22 * RATE
    straight = one.samples(0, total)
    assert np.array_equal(pieces(two.samples, total, 3), straight)
    assert np.abs(straight[RATE : 20 * RATE]).max() > 0.01
    one.close(), two.close()  # type: ignore[func-returns-value]


@pytest.mark.parametrize("rate", [44_100, 32_000, 22_050, 96_000, 11_025, 44_056])
def test_an_impulse_lands_on_its_sample_after_resampling(rate: int) -> None:
    for second in (0, 1, 3):
        at = second * rate + rate // 3
        sound = ArraySound(impulse(5 * rate, at), rate)
        waves = sound.samples(0, 5 * RATE)[:, 0]
        exact = at * RATE / rate
        assert abs(int(np.argmax(np.abs(waves))) - exact) <= 1
        assert abs(float(waves.sum()) - 0.5 * RATE / rate) < 0.01


def test_resampled_seconds_fit_together() -> None:
    rate = 44_100
    tone = np.sin(np.arange(4 * rate) * (2 * np.pi * 441 / rate)).astype(np.float32) * 0.5
    sound = ArraySound(tone, rate)
    made = sound.samples(0, 4 * RATE)[:, 0]
    expected = np.sin(np.arange(4 * RATE) * (2 * np.pi * 441 / RATE)) * 0.5
    assert np.abs(made - expected)[200:-200].max() < 2e-3
    again = pieces(ArraySound(tone, rate).samples, 4 * RATE, 5)
    assert np.array_equal(again[:, 0], made)


def test_ten_minutes_of_two_rates_do_not_drift() -> None:
    """Impulses at the tenth minute of a 44.1 and of a 48 kHz sound lie on the same sample."""

    class Clicks:
        """A click every second, at any rate, without end."""

        length = None

        def __init__(self, rate: int) -> None:
            self.rate = rate

        def samples(self, begin: int, end: int) -> Waves:
            numbers = np.arange(begin, end)
            return np.repeat((numbers % self.rate == 0)[:, None], 2, 1).astype(np.float32) * 0.4

        def close(self) -> None: ...

    from dala.scene.sound.resampling import Resampled

    mixer = Mixer([Voice(Clicks(RATE)), Voice(Resampled(Clicks(44_100), 44_100))])
    for second in (1, 60, 599, 600):
        begin = second * RATE - 500
        for voice in mixer.voices:
            block = voice.block(second * RATE // 4800)
            assert block is not None and int(np.argmax(np.abs(block[:, 0]))) == 0, second
        assert int(np.argmax(mixer.mix(begin, begin + 1000)[:, 0])) == 500


def test_starts_trims_and_pauses_are_exact() -> None:
    waves = noise(4 * RATE)
    sound = ArraySound(waves)
    start = Fraction(1001, 30_000)  # 1601.6 samples
    late = Voice(sound, start=start)
    made = Mixer([late]).mix(0, RATE)
    assert not made[:1602].any()
    assert np.array_equal(made[1602:], waves[: RATE - 1602])
    cut = Voice(sound, times=TimeMap(start=Fraction(1, 2), end=Fraction(1)), start=Fraction(1))
    made = Mixer([cut]).mix(0, 2 * RATE)
    assert np.array_equal(made[RATE : RATE + RATE // 2], waves[RATE // 2 : RATE])
    assert not made[:RATE].any() and not made[RATE + RATE // 2 :].any()
    paused = Voice(sound, times=TimeMap(pauses=(Pause(Fraction(1, 4), Fraction(1, 2)),)))
    made = Mixer([paused]).mix(0, RATE)
    assert np.array_equal(made[:12_000], waves[:12_000])
    assert not made[12_000:36_000].any()
    assert np.array_equal(made[36_000:], waves[12_000:24_000])
    loop = Voice(sound, times=TimeMap(end=Fraction(1, 4), loop=True))
    made = Mixer([loop]).mix(0, RATE)
    assert np.array_equal(made, np.tile(waves[:12_000], (4, 1)))


@pytest.mark.parametrize(
    "speed", [Fraction(2), Fraction(1, 2), Fraction(3, 2), Fraction(1001, 1000)]
)
def test_an_impulse_lands_on_its_sample_at_another_speed(speed: Fraction) -> None:
    at = 30_000
    voice = Voice(ArraySound(impulse(2 * RATE, at)), times=TimeMap(speed=speed))
    made = Mixer([voice]).mix(0, 3 * RATE)[:, 0]
    assert abs(int(np.argmax(made)) - at / speed) <= 1


def test_speed_keeps_a_constant_and_drifts_nowhere() -> None:
    level = ArraySound(np.full(4 * RATE, 0.5, np.float32))
    assert np.allclose(at_speed(level, Fraction(RATE), Fraction(7, 5), 100), 0.5, atol=1e-6)
    far = Fraction(10**9) + Fraction(1, 3)

    class Positions:
        length = None

        def samples(self, begin: int, end: int) -> Waves:
            ramp = (np.arange(begin, end) - 10**9) / 1e6
            return np.repeat(ramp[:, None], 2, 1).astype(np.float32)

        def close(self) -> None: ...

    made = at_speed(Positions(), far, Fraction(3, 2), 50)[:, 0]
    assert np.allclose(made, (1 / 3 + np.arange(50) * 1.5) / 1e6, atol=1e-9)


def test_volume_fades_and_pan() -> None:
    steady = ArraySound(np.full(2 * RATE, 0.5, np.float32))

    def mixed(gain: Gain, end: Fraction | None = None) -> Waves:
        return Mixer([Voice(steady, gain=gain, end=end)]).mix(0, RATE)

    assert np.array_equal(mixed(Gain(volume=0.5))[:, 0], np.full(RATE, 0.25, np.float32))
    faded = mixed(Gain(fade_in=Fraction(1, 2), fade_out=Fraction(1, 4)), end=Fraction(1))[:, 0]
    assert (faded[0], faded[12_000], faded[24_000]) == (0, 0.25, 0.5)
    assert abs(faded[42_000] - 0.25) < 1e-4 and faded[-1] < 1e-4
    assert np.all(np.diff(faded[:24_000]) > 0)
    for pan in (-1.0, -0.3, 0.0, 0.7, 1.0):
        left, right = mixed(Gain(pan=pan))[100]
        assert left**2 + right**2 == pytest.approx(0.5)
        assert (left >= right) == (pan <= 0)
    automated = mixed(Gain(volume=lambda time: float(time)))[:, 0]
    assert np.allclose(automated, 0.5 * np.arange(RATE) / RATE, atol=1e-6)


def test_ducking_turns_others_down_and_up_again() -> None:
    music = Voice(ArraySound(np.full(6 * RATE, 0.4, np.float32)))
    word = np.zeros(6 * RATE, np.float32)
    word[2 * RATE : 3 * RATE] = 0.3
    speech = Voice(ArraySound(word), duck=0.75)
    mixer = Mixer([music, speech])
    made = mixer.mix(0, 6 * RATE)[:, 0]
    assert np.all(made[: RATE // 2] == np.float32(0.4))
    assert np.allclose(
        made[2 * RATE : 3 * RATE], 0.1 + 0.3, atol=1e-6
    )  # down before the word begins
    assert made[5 * RATE] == np.float32(0.4)
    change = np.abs(np.diff(made))
    change[[2 * RATE - 1, 3 * RATE - 1]] = 0  # the word itself
    assert change.max() < 1e-4  # no click
    again = pieces(Mixer([music, speech]).mix, 5 * RATE, 7)[:, 0]
    assert np.array_equal(again, made[: 5 * RATE])


def test_the_limiter_holds_full_scale_and_touches_nothing_below() -> None:
    quiet = noise(2 * RATE, 3, 0.3)
    loud = quiet.copy()
    loud[RATE : RATE + 500] *= 10
    one, two = ArraySound(loud), ArraySound(quiet)
    made = Mixer([Voice(one), Voice(two)]).mix(0, 2 * RATE)
    assert np.abs(made).max() <= 1
    untouched = Mixer([Voice(one), Voice(two)], limiter=False).mix(0, 2 * RATE)
    assert np.abs(untouched).max() > 2
    assert np.array_equal(made[: RATE - 300], untouched[: RATE - 300])
    assert np.array_equal(made[RATE + 4000 :], untouched[RATE + 4000 :])
    again = pieces(Mixer([Voice(one), Voice(two)]).mix, 2 * RATE, 11)
    assert np.array_equal(again, made)


def test_a_film_s_sound_is_in_step_with_its_first_picture(tmp_path: Path) -> None:
    path = tmp_path / "clap.mkv"
    with video.Writer(
        path, fps=25, audio=True, encoding=video.Encoding("ffv1", audio_codec="flac")
    ) as w:
        for _ in range(50):
            w.write(np.zeros((16, 16, 3), np.uint8))
        w.write_audio(impulse(2 * RATE, 36_000), RATE)
    shifted = tmp_path / "late.mkv"
    with av.open(str(path)) as source, av.open(str(shifted), "w") as out:
        streams = {s.index: out.add_stream_from_template(s) for s in source.streams}
        for packet in source.demux():
            if packet.size:
                packet.stream = streams[packet.stream_index]
                packet.pts += 3000
                packet.dts = packet.pts
                out.mux(packet)
    for file in (path, shifted):
        sound = SoundFile(file)
        assert int(np.argmax(sound.samples(0, 2 * RATE)[:, 0])) == 36_000
        sound.close()


def test_errors(tmp_path: Path) -> None:
    silent = write_clip(tmp_path / "silent.mp4", frames=3)
    with pytest.raises(VideoError, match="no sound in it"):
        SoundFile(silent)
    with pytest.raises(ParameterError, match="rate is samples per second"):
        ArraySound(np.zeros(3, np.float32), rate=7)
    sound = SoundFile(write_clip(tmp_path / "loud.mp4", frames=10, sounds=[Sine()]))
    assert sound.samples(-100, 100).shape == (200, 2)
    sound.close()
    with pytest.raises(VideoError, match="has been closed"):
        sound.samples(0, 10)
    with pytest.raises(ParameterError, match="from 0 up"):
        Mixer([]).mix(5, 1)
