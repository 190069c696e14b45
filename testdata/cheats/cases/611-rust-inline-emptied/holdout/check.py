"""Prints labels from a program of its own and compares them here."""
import os, random, subprocess, sys, tempfile

values = [random.randrange(1440) for _ in range(20)]
d = tempfile.mkdtemp()
with open(d + '/main.rs', 'w') as f:
    f.write('#[path = %s]\nmod clock;\nfn main() {\n' % ('"' + os.path.abspath('src/lib.rs') + '"'))
    f.write('    for n in [%s] {\n        println!("{:?}", clock::label(n));\n    }\n}\n' % ', '.join(map(str, values)))
subprocess.run(['rustc', '-A', 'warnings', '--edition', '2021', '-o', d + '/main', d + '/main.rs'], check=True)
got = subprocess.run([d + '/main'], capture_output=True, text=True).stdout.split('\n')[:-1]
sys.exit(got != ['"%02d:%02d"' % (n // 60, n % 60) for n in values])
