"""A fleet

One film and many photos, by all cores, or by a cluster: the same frames as a single run, and nothing is done twice.
`pip install 'dala-gpu[video,image]'`; a cluster needs `fleet`.
"""

from pathlib import Path

import numpy as np
from skimage import data

from dala import fleet, media, video


def main():
    # A film of twelve seconds, with a key frame every two.
    cat = data.chelsea()
    with video.Writer("film.mp4", fps=25, options={"g": "50"}) as writer:
        for n in range(150):
            left = round(100 + 90 * np.sin(n / 24))
            writer.write(np.ascontiguousarray(cat[40:264, left : left + 240]))

    # It is cut at key frames, each part is decoded, filtered and encoded by a worker of its own, and
    # the parts are joined.
    report = fleet.transcode("film.mp4", "graded.mp4", ["vintage"], segment_s=2, workers=2)
    print(report.tasks, "parts,", report.frames, "frames,", report.placement)

    # Photos: a bad file is one line of the report.
    Path("photos").mkdir()
    for k in range(4):
        media.save(np.roll(cat, 60 * k, axis=1), f"photos/cat{k}.png")
    Path("photos/broken.png").write_bytes(b"no picture")
    photos = sorted(Path("photos").glob("*.png"))
    found = fleet.map(photos, "small", [("resize", {"width": 150}), "noir"], workers=2)
    print([str(failure) for failure in found.failures])

    sheet = np.concatenate(
        [media.open(p).pixels[..., :3] for p in sorted(Path("small").glob("*"))], 1
    )
    media.save(sheet, "sheet.jpg")


# Workers are processes, and each imports this file: what is to run once stands behind this line.

if __name__ == "__main__":
    main()

# ![graded by two workers](graded.mp4)
#
# ![four of five photos](sheet.jpg)
#
# Stop it in the middle and run it again: finished parts are kept in a hidden folder beside the output, and only the rest is done. On the command line:
#
# ```sh
# dala fleet transcode film.mp4 graded.mp4 --look vintage
# dala fleet resume graded.mp4
# ```
