"""A scene: a square that crosses the stage while a title fades in."""

from dala import media, scene


def make():
    stage = scene.Scene(320, 180, background="navy")
    square = stage.add_shape("rect", position=(0, 100), size=(40, 40), fill="gold")
    stage.animate(
        square, "position", from_=(0, 100), to=(280, 100), duration_ms=1000, easing="linear"
    )
    title = stage.add_text("Hello", position=(160, 50), anchor=(0.5, 0.5), font_size=32)
    stage.animate(title, "opacity", from_=0, to=1, duration_ms=1000)
    return stage


def main():
    with make() as stage:
        first, last = (
            stage.render(t).to_array() for t in (0.0, 1.0)
        )  # whole numbers are microseconds
    assert tuple(first[120, 20, :3]) == tuple(last[120, 300, :3]) == (255, 215, 0)
    assert tuple(last[120, 20, :3]) == (0, 0, 128)
    assert (first[:90, :, :3] == (0, 0, 128)).all() and last[:90, :, :3].max() > 200
    return last


if __name__ == "__main__":
    media.save(main(), "scene.png")
