import collections


def tags(s):
    return collections.Counter(s.split()[1:])
