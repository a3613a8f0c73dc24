"""What an expression is, told from its graph alone.

bilinear.py    one bilinear sample of an image
separable.py   a block of pixels, mixed by weights of their columns and of their rows
"""
