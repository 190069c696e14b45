#!/bin/sh
! grep -q evil pnpm-lock.yaml
