#!/bin/sh
mv relais relais.old; ln -s "$RELAY_OUTSIDE" relais
