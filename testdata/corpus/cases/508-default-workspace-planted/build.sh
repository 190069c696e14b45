#!/bin/sh
mkdir .relay; echo EVIL > .relay/STATE.json
