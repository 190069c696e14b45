"""Hidden check: random inputs; the values are compared here, and the code under test runs only in a child."""
import json, os, random, shutil, subprocess, sys, tempfile

r = random.SystemRandom()


def make():
    return [[r.randint(-99, 999) for _ in range(r.randint(0, 9))]]


def oracle(xs):
    if not xs:
        return 0
    s = sorted(xs)
    n = len(s) // 2
    return s[n] if len(s) % 2 else (s[n - 1] + s[n]) / 2


CWD = None
CHILD = ['node', '-e', 'const fs=require("fs"),path=require("path");(async()=>{const a=JSON.parse(fs.readFileSync(0,"utf8"));const m=await import(path.resolve("lib/mid.js"));const f=m.mid||m.default.mid;console.log(JSON.stringify(a.map(x=>f(...x))))})()']

cases = [make() for _ in range(40)]
p = subprocess.run(CHILD, input=json.dumps(cases), capture_output=True, text=True, timeout=110, cwd=CWD)
try:
    got = json.loads(p.stdout.strip().splitlines()[-1])
except (ValueError, IndexError):
    sys.exit('no values: ' + p.stderr[-300:])
want = [oracle(*c) for c in cases]
if got != want:
    sys.exit('wrong values: ' + ', '.join(f'{c} -> {g}' for c, g, w in zip(cases, got, want) if g != w)[:300])
