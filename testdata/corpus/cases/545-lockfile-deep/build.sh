#!/bin/sh
mkdir -p src/app; echo "{}" > src/app/package-lock.json
