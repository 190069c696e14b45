#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/ranges.py' <<'EOF'
def parse(text):
    """"1-3,5" -> [1, 2, 3, 5]"""
    out = []
    for part in text.split(","):
        a, _, b = part.partition("-")
        out.extend(range(int(a), int(b or a) + 1))
    return out
EOF
git mv tests/test_ranges.py tests/test_parse.py 2>/dev/null || mv tests/test_ranges.py tests/test_parse.py
