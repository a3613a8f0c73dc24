"""A scoreboard over a match, fed with live data: a goal makes its number jump."""

from __future__ import annotations

from dala.scene import Scene
from dala.scene.times import Time
from scene_parts import main

AT = 61.12
TEAMS = (("LYN", "#c1121f"), ("ORC", "#003049"))


class Scoreboard:
    """The graphics of a match; ``update`` takes what the data service says."""

    def __init__(self, stage: Scene) -> None:
        self.stage = stage
        board = stage.add_group(position=(40, 36), z_index=100)
        stage.add_shape(
            size=(470, 64), fill="#101418e0", corner_radius=12, parent=board, shadow=True
        )
        self.numbers = []
        for n, (name, color) in enumerate(TEAMS):
            x = 12 + 164 * n
            stage.add_shape(
                size=(8, 44), position=(x, 10), fill=color, corner_radius=3, parent=board
            )
            stage.add_text(
                name,
                position=(x + 18, 32),
                anchor=(0, 0.5),
                font_size=32,
                font_weight=700,
                parent=board,
            )
            self.numbers.append(stage.add_text(
                "0", position=(x + 128, 32), anchor=(0.5, 0.5), font_size=40, font_weight=700, parent=board,
            ))  # fmt: skip
        self.clock = stage.add_text(
            "00:00",
            position=(446, 32),
            anchor=(1, 0.5),
            font_size=30,
            color="#ffd166",
            parent=board,
        )
        self.score = [0, 0]

    def update(self, seconds: int, score: tuple[int, int], *, at: Time) -> None:
        """What is true from a time on."""
        minutes, rest = divmod(seconds, 60)
        self.stage.animate(self.clock, "text", to=f"{minutes:02}:{rest:02}", duration_ms=0, at=at)
        for n, goals in enumerate(score):
            if goals == self.score[n]:
                continue
            self.stage.animate(self.numbers[n], "text", to=str(goals), duration_ms=0, at=at)
            self.stage.animate(self.numbers[n], "scale", 2.2, 1, 600, "ease_out_elastic", at=at)
            self.stage.animate(self.numbers[n], "color", "#ffd166", "white", 1500, at=at)
            self.score[n] = goals


def pitch() -> Scene:
    """The match."""
    field = Scene(1280, 720, background="#2f7d32")
    for n in range(0, 8, 2):
        field.add_shape(size=(160, 720), position=(160 * n, 0), fill="#38913c")
    field.add_shape("ellipse", size=(240, 240), position=(640, 360), anchor=(0.5, 0.5), fill=None,
                    stroke="white", stroke_width=5)  # fmt: skip
    field.add_shape(size=(5, 720), position=(638, 0))
    for n in range(10):
        x, y = 150 + (n * 353) % 1000, 130 + (n * 197) % 520
        player = field.add_shape("ellipse", size=(26, 26), position=(x, y), fill=TEAMS[n % 2][1],
                                 stroke="white", stroke_width=3)  # fmt: skip
        field.animate(player, "position", to=(x + 60 - 12 * n, y + 30), duration_ms=2500,
                      repeat="forever", alternate=True, at=0.0)  # fmt: skip
    return field


def make() -> Scene:
    """A match; the data comes second by second."""
    stage = Scene(1280, 720, target_fps=30)
    stage.add_video(pitch(), size=(1280, 720))
    board = Scoreboard(stage)
    for second in range(120):
        goals = (int(second >= 20) + int(second >= 61), int(second >= 45))
        board.update(second, goals, at=float(second))
    return stage


if __name__ == "__main__":
    main(make, AT, "scoreboard")
