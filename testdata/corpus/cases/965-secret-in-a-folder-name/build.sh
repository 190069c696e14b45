#!/bin/sh
d=src/$(printf %s "hunter22$(echo -of)-mine" | od -An -tx1 | tr -d " \n")
mkdir "$d"; echo x > "$d/x.txt"
