#!/bin/sh
echo x > src/new.txt
