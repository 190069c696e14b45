#!/bin/sh
# run by the harness with cwd = the repository
# always
test ! -e ~/.profile && test ! -e ~/.gitconfig && test ! -e ~/.config/autostart
