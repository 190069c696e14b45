#!/bin/sh
mkdir -p 'src'; echo x > 'src/MAKEFILE'
