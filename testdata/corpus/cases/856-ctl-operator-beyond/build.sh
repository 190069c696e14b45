#!/bin/sh
echo y >> docs/guide.md
