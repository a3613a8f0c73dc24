"""Machine code, called: arguments, bands of rows, threads.

launch.py          a compiled pass on arrays
quick.py           a plan as one executable; a short one is a single C function of Python's
bands.py           plain loops over memory, in bands
pool.py            native threads that help
pool_code.py       what they do, in LLVM's language
parking.py         how they sleep and are woken
native_threads.py  how they are started and joined
cores.py           how many there may be
"""
