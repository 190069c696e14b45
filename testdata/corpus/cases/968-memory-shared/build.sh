#!/bin/sh
echo x >> src/a.txt
python3 -c 'import mmap, time; m = mmap.mmap(-1, 600 << 20); [m.write(b"x" * (1 << 20)) for _ in range(600)]; time.sleep(100)' || perl -e '$x = "x" x (600 << 20); sleep 100'
