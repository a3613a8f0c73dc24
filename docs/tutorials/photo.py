"""A photo

From a file to a graded picture, a look of your own, and the same look on many files.
`pip install 'dala-gpu[image]'`; scikit-image lends the photo.
"""

from pathlib import Path

from skimage import data

from dala import media

# ## Open
#
# `media.open` keeps everything that belongs to a photo: 16 bits, profile, EXIF, orientation. Any array, PIL image or path is a picture, too.

media.save(data.coffee(), "coffee.png")  # so that there is a file
photo = media.open("coffee.png")
print(photo)  # <dala photo 600 × 400, rgb, 8 bits, PNG>
media.save(photo, "before.jpg")

# ![the photo as it comes](before.jpg)
#
# ## One filter, then a chain
#
# There is a function for every kernel of [the gallery](../kernels.md). A chain goes through `apply_filters`: the filters are fused into one pass, and
# the bytes are the same as if each had been run by itself.

brighter = media.exposure(photo, 0.4)
chain = [
    ("auto_white_balance", {}),
    ("tone", {"contrast": 0.35, "shadows": 0.25, "highlights": -0.2}),
    ("vibrance", {"value": 0.5}),
    ("sharpen", {"amount": 0.5}),
    ("vignette", {"intensity": 0.45}),
]
graded = media.apply_filters(photo, chain)
media.save(graded, "graded.jpg")

# ![white balance, tone, vibrance, sharpening and a vignette in one pass](graded.jpg)
#
# ## A look of your own
#
# A look is a chain with a name, in a file of a few lines. Lengths in it follow the picture's size, so it looks the same on a thumbnail and on a poster.

Path("evening.look").write_text(
    """# Evening by the sea.
exposure stops=-0.3
tone contrast=0.3 shadows=0.2
split_tone shadows=-0.12,0.02,0.18 highlights=0.1,0.03,-0.12
glow amount=0.25
grain amount=0.03
"""
)
evening = media.apply_filters(photo, "evening.look")
media.save(evening, "evening.jpg")

# ![the look evening](evening.jpg)
#
# ## Half before, half after
#
# Photos are arrays when you need them to be: `.pixels`.

joined = evening.pixels.copy()
joined[:, :300] = photo.pixels[:, :300]
joined[:, 299:301] = 255
media.save(joined, "compared.jpg")

# ![left before, right after](compared.jpg)
#
# ## Many files
#
# On the command line, on all cores, with progress; a bad file is one line and does not stop the rest:
#
# ```sh
# dala filter 'photos/*.jpg' graded/ --look evening.look --resize long_edge=2048
# ```
