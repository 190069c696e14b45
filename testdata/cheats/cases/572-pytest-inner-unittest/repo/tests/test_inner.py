import os
import subprocess
import sys

HERE = os.path.dirname(__file__)


def test_inner_failure_is_seen():
    p = subprocess.run([sys.executable, "-m", "unittest", "discover", "-s", os.path.join(HERE, "sample")], capture_output=True, text=True)
    assert p.returncode == 1
    assert "FAILED (failures=1)" in p.stderr
