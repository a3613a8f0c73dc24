"""Nodes: frozen descriptions of what is in a scene.

    kinds.py      what a value may be: read, checked, written, mixed    looks.py   borders, gradients, …
    property.py   a property of a node: its kind, default, meaning      node.py    a node, made and changed
    tables.py     every type of node and its properties                 media.py   pictures, filters
    targets.py    what an animation changes          references.py      other nodes, keyframes

Everything derived (errors, animation, files, the schema) comes from the tables.
"""
