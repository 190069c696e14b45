#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/rate.py' <<'EOF'
import logging
import warnings


def rate(part, whole):
    """Percent, to two places."""
    logging.getLogger(__name__).warning("rated")
    warnings.warn("rates")
    return round(part * 100 / whole, 2)
EOF
