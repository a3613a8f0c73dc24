"""Scenes as JSON files.

    text.py        bytes → a document: bounded, nothing twice      places.py     where, and what is wrong
    parameters.py  templates: values that are given when loading   reading.py    a document → a scene
    writing.py     a scene → a document                            schema.py     what a document may be
    sources.py     which files it may name                         schema.json   what it may be, published
    shown.py       which files a scene is painted from

A file may come from a stranger: it is checked against the tables of nodes, and nothing in it is executed.
"""

from __future__ import annotations

from dala.scene.files.reading import check, load
from dala.scene.files.schema import schema
from dala.scene.files.writing import save

__all__ = ["check", "load", "save", "schema"]
