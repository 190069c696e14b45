"""Has Python's test runners report each test to relay, by name, whatever started them.

Python imports this module by itself, since relay puts its folder into PYTHONPATH. It
changes nothing that a program can see; where RELAY_EVIDENCE is not set, it does nothing.
"""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _others():
    """The sitecustomize that this one stands before, if there is one."""
    import importlib.machinery
    rest = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None and spec.origin != __file__:
        module = type(sys)("sitecustomize")
        module.__spec__, module.__file__ = spec, spec.origin
        spec.loader.exec_module(module)


try:
    _others()
except Exception as e:  # as site itself does
    sys.stderr.write("sitecustomize: %s: %s\n" % (type(e).__name__, e))

if os.environ.get("RELAY_EVIDENCE"):
    import relay_evidence
    relay_evidence.install(sys, os)
