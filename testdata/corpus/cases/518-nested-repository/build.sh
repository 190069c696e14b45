#!/bin/sh
git init -q src/mod; echo x > src/mod/x
