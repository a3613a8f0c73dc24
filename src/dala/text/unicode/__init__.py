"""Unicode's own algorithms, tested against Unicode's own files.

tables.py       properties of code points (properties.bin, written by tools/unicode_tables.py)
bidi.py         which way text runs (UAX #9); explicit.py its embeddings and isolates
linebreak.py    where lines end (UAX #14)
graphemes.py    what is one character to a reader (UAX #29)
scripts.py      runs of one script (UAX #24)
"""
