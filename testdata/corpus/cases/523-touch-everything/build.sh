#!/bin/sh
find . \( -path ./.git -o -path ./relais \) -prune -o -type f -exec touch {} +
