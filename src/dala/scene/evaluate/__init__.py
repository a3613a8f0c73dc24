"""A description and a time → a composition: what is to be painted.

    composing.py   nodes → layers, in order      geometry.py   matrices, how a content fits its box
    dressing.py    border, shadow, groups        isolating.py  several layers as one picture
    contents.py    what a node shows             resources.py  opened files, kept pictures
    lettering.py   texts as pictures             drawing.py    shapes as pictures
    playing.py     where in its source a node is  kept.py      pictures that are kept, within a budget
    captions.py    cues of subtitles as layers
    streams.py     open sources of moving pictures  filtering.py  effects as filters, now and soon

Nothing here depends on what was asked before: the same description and time give the same composition.
"""
