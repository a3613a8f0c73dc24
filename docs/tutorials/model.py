"""A model

Who is in front, and another background: a network's mask as part of a fused chain. `pip install 'dala-gpu[ml,image]'`, and
[weights](../models.md#weights): dala brings none.
"""

from skimage import data

from dala import media, ml
from dala.media import annotate

photo = data.astronaut()
print(ml.available_models())

# ## What is there
#
# A model's results are records in the pixels of the picture you gave; `media.annotate` draws them.

with ml.load_model("posenet") as model:
    people = ml.predict_frame(model, photo)
media.save(annotate.skeletons(photo, people), "poses.jpg")

# ![joints](../models/poses.jpg)
#
# ## Who is in front
#
# Where a filter wants a mask, a model will do. The picture, its small copy for the network, the mask and the blur are one chain.

with ml.load_model("selfie") as selfie:
    soft = media.background_blur(photo, selfie, 20)
    away = media.background_replace(photo, selfie, data.rocket())
media.save(soft, "soft.jpg")
media.save(away, "away.jpg")

# ![another background](../models/replaced.jpg)
#
# The same on a film, and before a camera:
#
# ```sh
# dala filter talk.mp4 out.mp4 --background-blur radius=20 --people
# dala live --source camera --background-replace sea.jpg --people
# ```
