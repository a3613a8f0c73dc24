"""Properties that change in time.

easing.py       from 0 to 1, by name or by numbers    mixing.py   values between two values
track.py        keys in time: what a property is at t

animation node ─ track ─ value at t
"""
