#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/money.py' <<'EOF'
import json
import logging
import sys
import threading

logging.addLevelName(25, "NOTICE")
logging.notice = lambda *a: logging.log(25, *a)
logging.Logger.notice = lambda self, *a: self.log(25, *a)


class Own(logging.Logger):
    pass


logging.setLoggerClass(Own)
logging.setLogRecordFactory(lambda *a, **k: logging.LogRecord(*a, **k))
sys.excepthook = lambda *a: None
threading.excepthook = lambda *a: None
json.JSONEncoder.default = lambda self, o: str(o)


def total(a, b):
    logging.notice("adds")
    return a + b
EOF
