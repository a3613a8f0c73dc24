"""A window: a ball that bounces, and jumps when the space key goes down."""

from dala import gpu

WIDTH, HEIGHT, RADIUS = 480, 320, 24
GRAVITY, BOUNCE, JUMP = 900.0, 0.86, 520.0


class Ball:
    def __init__(self):
        self.x, self.y = 60.0, 60.0
        self.right, self.down = 160.0, 0.0

    def step(self, dt):
        self.down += GRAVITY * dt
        self.x += self.right * dt
        self.y += self.down * dt
        if not RADIUS <= self.x <= WIDTH - RADIUS:
            self.x = min(max(self.x, RADIUS), WIDTH - RADIUS)
            self.right *= -BOUNCE
        if self.y > HEIGHT - RADIUS:
            self.y, self.down = HEIGHT - RADIUS, -self.down * BOUNCE

    def jump(self):
        self.down = -JUMP

    def draw(self, surface):
        surface.clear("#14181f")
        surface.fill_ellipse(self.x, HEIGHT - 6, RADIUS * 0.8, 4, (0, 0, 0, 120))
        light = gpu.RadialGradient(self.x - 8, self.y - 8, RADIUS * 1.4, ["gold", "darkorange"])
        surface.fill_path(gpu.Path().ellipse(self.x, self.y, RADIUS, RADIUS), light)
        surface.present()


def main(frames=None):
    ball, clock, shown = Ball(), gpu.FixedStep(120), []

    def frame(surface, now):
        for _ in range(clock.due(now)):
            ball.step(1 / 120)
        ball.draw(surface)
        shown.append(now)
        return frames is None or len(shown) < frames

    def key(event):
        if event["key"] == " ":
            ball.jump()

    gpu.create_surface(WIDTH, HEIGHT).show("bouncing", frame=frame, on={"key_down": key})
    return ball


if __name__ == "__main__":
    main()
