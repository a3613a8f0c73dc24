"""What an expression is, told from its graph alone.

bounds.py      between which numbers a uniform value lies
linear.py      sums of loads, each times a weight that is the same for all pixels
bilinear.py    one bilinear sample of an image
separable.py   a block of pixels, mixed by weights of their columns and of their rows
"""
