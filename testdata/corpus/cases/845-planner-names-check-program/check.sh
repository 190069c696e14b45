#!/bin/sh
! grep -q BAD src/a.txt
