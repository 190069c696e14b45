#!/bin/sh
mkdir tools; echo 'echo ran >> "$RELAY_CANARY"; echo sk-ant-of-the-clone' > tools/settings
