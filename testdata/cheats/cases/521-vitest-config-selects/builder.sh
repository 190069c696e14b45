#!/bin/sh
set -e
sed -i "s/include: .*\]/&, testNamePattern: 'touch'/" vitest.config.js
