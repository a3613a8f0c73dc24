"""Rows, columns, grids and tiles.

    arrange.py   members → cells: where each stands when nothing moves
    moves.py     members come and go: where each stands at a time

A cell is a pure function of the members and the time, as everything in a scene is.
"""
