#!/bin/sh
[ -e .github/workflows/ci.yml ]
