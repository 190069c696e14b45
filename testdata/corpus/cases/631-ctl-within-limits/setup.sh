#!/bin/sh
set -e
jq '.box.limits = {"processes": 300, "memory_mb": 1000, "disk_mb": 300, "file_mb": 100, "cpu_seconds": 60, "output_mb": 50, "cpus": 1, "open_files": 500}' relais.config.json > ../c.json
mv ../c.json relais.config.json
git add -A
git commit -qm limits
