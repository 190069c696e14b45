#!/bin/sh
for i in $(seq 1 20); do echo x > src/n$i.txt; done
