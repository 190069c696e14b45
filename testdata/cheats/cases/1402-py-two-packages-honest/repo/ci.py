import subprocess
import sys

for name in open("packages.txt").read().split():
    subprocess.run([sys.executable, "-m", "unittest", "discover", "-q", "-s", "tests", "-t", "."], cwd=name, check=True)
