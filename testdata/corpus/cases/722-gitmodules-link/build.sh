#!/bin/sh
ln -s a.txt src/.gitModules
