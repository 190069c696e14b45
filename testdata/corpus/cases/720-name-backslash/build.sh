#!/bin/sh
echo EVIL > 'src/a\.git\config'
