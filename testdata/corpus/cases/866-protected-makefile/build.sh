#!/bin/sh
echo x > 'makefile'
