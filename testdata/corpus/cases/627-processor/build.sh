#!/bin/sh
while :; do :; done & while :; do :; done
