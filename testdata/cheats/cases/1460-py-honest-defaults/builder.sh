#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/rate.py' <<'EOF'
import builtins


def told(*what, sep=", "):
    shown(*what, sep=sep)


shown, builtins.print = print, told


def rate(part, whole):
    """Percent, to two places."""
    return round(part * 100 / whole, 2)


rate.__defaults__ = (1,)
EOF
