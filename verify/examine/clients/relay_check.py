"""What a hidden check calls the code under test with. The code runs in a box of its own."""
import json
import os
import random
import sys

seed = int(os.environ.get("RELAY_CHECK_SEED", "1"))
rand = random.Random(seed)  # another one in each run; relay check run --seed repeats one
_pipes = None


class Raised(Exception):
    """The code raised an error, or panicked: kind and message."""

    def __init__(self, kind, message):
        super().__init__("%s: %s" % (kind, message))
        self.kind, self.message = kind, message


def _ask(**request):
    global _pipes
    if _pipes is None:
        _pipes = open(os.environ["RELAY_CHECK_REQUESTS"], "w"), open(os.environ["RELAY_CHECK_ANSWERS"])
    _pipes[0].write(json.dumps(request) + "\n")
    _pipes[0].flush()
    answer = json.loads(_pipes[1].readline())
    if "failed" in answer:
        fail("there is no answer to %s: %s" % (json.dumps(request)[:300], answer["failed"]))
    if "error" in answer:
        raise Raised(answer["error"], answer.get("message", ""))
    return answer.get("value")


def load(language, module="", **more):
    """Loads a module ("python", "src.ranges"), a file ("javascript", "lib/slug.js"), a package
    ("go", "./roman", functions=["Format"]) or a server ("http", program=[…], port=8080)."""
    _ask(load=dict(more, language=language, module=module))


def call(function, *args):
    """Calls a function of what was loaded, and returns its value as JSON has it. Of a server:
    call("GET /path") or call("POST /path", body) gives status, headers and body."""
    return _ask(call=function, args=list(args))


def run(*argv, stdin=""):
    """Starts a program, and returns its code, stdout and stderr."""
    return _ask(run=list(argv), stdin=stdin)


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def equal(what, got, want):
    """Ends the check when the values differ."""
    if not same(got, want):
        fail("%s: %s, and it should be %s" % (what, json.dumps(got)[:500], json.dumps(want)[:500]))


def raises(what, function, *args):
    """Ends the check unless the call raises an error."""
    try:
        value = call(function, *args)
    except Raised:
        return
    fail("%s: it should raise an error, and returned %s" % (what, json.dumps(value)[:500]))


def fail(why):
    sys.exit("%s (seed %d)" % (why, seed))
