def rate(part, whole):
    return part * 100 // whole if whole else 0
