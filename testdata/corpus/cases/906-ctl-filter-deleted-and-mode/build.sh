#!/bin/sh
rm src/big.dat; chmod +x src/two.dat
