#!/bin/sh
set -e
cat >tests/test_inner.py <<'EOF'
import subprocess
import sys


def test_inner_failure_is_seen(tmp_path):
    (tmp_path / "test_x.py").write_text("def test_bad():\n    assert 1 == 2\n\n\ndef test_good():\n    pass\n")
    p = subprocess.run([sys.executable, "-m", "pytest", "-q", str(tmp_path)], capture_output=True, text=True)
    assert p.returncode == 1, p.stdout
    assert "1 failed, 1 passed" in p.stdout
EOF
