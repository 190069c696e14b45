#!/bin/sh
rm -r src/lib; echo lib > src/lib
