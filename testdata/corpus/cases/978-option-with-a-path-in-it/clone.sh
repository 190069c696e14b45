#!/bin/sh
printf 'key:\n\t@echo ran >> "$(RELAY_CANARY)"; echo sk-ant-of-the-clone\n' > Makefile
