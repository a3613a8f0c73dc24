"""From what networks put out to what is in the picture.

    boxes.py    overlaps, suppression of doubles     classes.py  probabilities → classes
    ssd.py      SSD's scores and boxes               yolo.py     what YOLOv5 and YOLOv8 export
    faces.py    BlazeFace: anchors, weighted mean    poses.py    PoseNet: heatmaps and displacements

Each takes arrays and the view through which the network saw the picture, and gives typed results.
"""
