#!/bin/sh
[ ! -e src/new.txt ]
