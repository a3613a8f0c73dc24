"""A small game: a ball, a paddle, bricks. Arrow keys move the paddle; left alone, it plays by itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from dala import gpu
from stage import Example, nothing

WIDTH, HEIGHT, RADIUS = 640, 420, 7.0
COLORS = ["#ff5d73", "#ff9d4d", "#ffd84d", "#6bdc86", "#4db8ff"]
BRICKS = [(40 + c * 57.0, 50 + r * 26.0, r) for r in range(5) for c in range(10)]


@dataclass
class Game:
    """What moves; ``step`` is a hundredth of a second."""

    x: float = 320.0
    y: float = 300.0
    dx: float = 2.1
    dy: float = -2.9
    paddle: float = 320.0
    bricks: set[tuple[float, float, int]] = field(default_factory=lambda: set(BRICKS))
    steps: gpu.FixedStep = field(default_factory=lambda: gpu.FixedStep(100, most=10_000))

    def step(self, keys: frozenset[str]) -> None:
        if keys & {"ArrowLeft", "ArrowRight"}:
            self.paddle += 5.0 * (("ArrowRight" in keys) - ("ArrowLeft" in keys))
        else:
            self.paddle += max(-4.0, min(4.0, self.x - self.paddle))
        self.paddle = min(max(self.paddle, 50.0), WIDTH - 50.0)
        self.x, self.y = self.x + self.dx, self.y + self.dy
        if not RADIUS < self.x < WIDTH - RADIUS:
            self.dx, self.x = -self.dx, min(max(self.x, RADIUS), WIDTH - RADIUS)
        if self.y < RADIUS:
            self.dy, self.y = abs(self.dy), RADIUS
        if self.y > 384 and abs(self.x - self.paddle) < 52 and self.dy > 0:
            self.dy, self.dx = -self.dy, (self.x - self.paddle) * 0.06
        if self.y > HEIGHT + 20:
            self.x, self.y, self.dx, self.dy = 320.0, 300.0, 2.1, -2.9
        hit = next((b for b in sorted(self.bricks) if self._touches(b)), None)
        if hit is not None:
            self.bricks.discard(hit)
            self.dy = -self.dy
        if not self.bricks:
            self.bricks = set(BRICKS)

    def _touches(self, brick: tuple[float, float, int]) -> bool:
        x, y, _ = brick
        return x - RADIUS < self.x < x + 50 + RADIUS and y - RADIUS < self.y < y + 18 + RADIUS


def new_game() -> Example:
    game = Game()
    game.steps.due(0.0)

    def draw(surface: gpu.Surface, seconds: float) -> None:
        for _ in range(game.steps.due(seconds)):
            game.step(surface.keys)
        draw_game(surface, game)

    return Example("breakout", (WIDTH, HEIGHT), nothing, draw)


def draw_at(surface: gpu.Surface, seconds: float) -> None:
    """The game as it is after so many seconds, played by itself."""
    game = Game()
    for _ in range(round(seconds * 100)):
        game.step(frozenset())
    draw_game(surface, game)


def draw_game(surface: gpu.Surface, game: Game) -> None:
    surface.clear("#12141c")
    for x, y, row in sorted(game.bricks):
        surface.fill_path(gpu.Path().rect(x, y, 50, 18, 5), COLORS[row])
    shine = gpu.LinearGradient(0, 386, 0, 400, ["#f4f7fb", "#8b97a8"])
    surface.fill_path(gpu.Path().rect(game.paddle - 46, 388, 92, 12, 6), shine)
    surface.fill_ellipse(game.x, game.y, RADIUS * 3, RADIUS * 3, (255, 255, 255, 24))
    surface.fill_ellipse(game.x, game.y, RADIUS, RADIUS, "white")
    surface.draw_text(16, 8, f"{len(BRICKS) - len(game.bricks)} / {len(BRICKS)}", size=20)
    surface.present()


EXAMPLE = Example("breakout", (WIDTH, HEIGHT), nothing, draw_at, at=14.0)

if __name__ == "__main__":
    EXAMPLE._replace(draw=new_game().draw).main()
