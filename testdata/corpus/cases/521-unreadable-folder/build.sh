#!/bin/sh
mkdir docs/x; echo EVIL > docs/x/y; chmod 000 docs/x
