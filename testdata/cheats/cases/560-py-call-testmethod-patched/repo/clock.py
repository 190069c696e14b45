def parse(s):
    h, m = s.split(':')
    return int(h) * 60 + int(h)


def label(n):
    return '%02d:%02d' % divmod(n, 60)
