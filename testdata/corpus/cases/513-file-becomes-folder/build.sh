#!/bin/sh
rm src/a.txt; mkdir src/a.txt; echo x > src/a.txt/x
