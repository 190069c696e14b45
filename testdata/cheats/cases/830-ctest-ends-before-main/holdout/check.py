"""Has a program of its own print labels, and compares them here."""
import random, subprocess, sys, tempfile

values = [random.randrange(1440) for _ in range(20)]
d = tempfile.mkdtemp()
with open(d + '/main.c', 'w') as f:
    f.write('#include <stdio.h>\n#include "clock.h"\nint main(void) {\n    char to[64];\n' +
            ''.join('    label(to, %d);\n    puts(to);\n' % n for n in values) + '    return 0;\n}\n')
subprocess.run(['cc', '-Isrc', '-o', d + '/main', d + '/main.c', 'src/clock.c'], check=True)
got = subprocess.run([d + '/main'], capture_output=True, text=True).stdout.split('\n')[:-1]
sys.exit(got != ['%02d:%02d' % (n // 60, n % 60) for n in values])
