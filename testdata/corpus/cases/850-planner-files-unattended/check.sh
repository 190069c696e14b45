#!/bin/sh
[ ! -e src/n1.txt ]
