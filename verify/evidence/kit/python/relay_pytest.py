"""The reporter for pytest, and its probes: see sitecustomize.py."""
import os
import unittest

import pytest
from relay_evidence import Channel

_CONTROLS = '''
import pytest

def test_equal():
    assert 1 == 2

def test_list():
    assert [1, 2] == [1, 3]

def test_text():
    assert "a" == "b"

def test_false():
    assert False

def test_raises():
    with pytest.raises(ValueError):
        pass

def test_approx():
    assert 1.0 == pytest.approx(2.0)

def test_error():
    raise KeyError("x")

def test_fail():
    pytest.fail("x")

def test_skip():
    pytest.skip("x")

def test_pass():
    assert [1, "a"] == [1, "a"]
    assert 1.0 == pytest.approx(1.0)
'''


class Plugin:
    def __init__(self, origin):
        self.channel, self.origin, self.own, self.raised = None, origin, None, {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        if not hasattr(session.config, "workerinput"):  # a worker of xdist reports through its controller
            self.channel = Channel("pytest", self.origin)
            self.channel.outermost()
            self.states = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """Probes go before the first and behind the last test."""
        if self.channel is None or session.config.option.collectonly or getattr(session.config.option, "numprocesses", None) or not session.items:
            return
        self.own = set()
        try:
            for when, at in (("before", 0), ("after", None)):
                made = self.controls(session, when)
                self.own.update(made)
                if at == 0:
                    session.items[:0] = made
                else:
                    session.items.extend(made)
        except Exception as e:
            self.channel.send("probe", "pytest", "bad", type(e).__name__)

    def controls(self, session, when):
        import types
        name = "p" + os.urandom(4).hex()
        module = types.ModuleType(name)
        exec(compile(_CONTROLS, name + ".py", "exec"), module.__dict__)
        home = next((i for i in session.items), None)
        parent = home.getparent(pytest.Module)
        return [pytest.Function.from_parent(session, name=name + "_" + n, callobj=f) if parent is None else
                self.function(parent, name + "_" + n, f)
                for n, f in sorted(vars(module).items()) if n.startswith("test_")]

    @staticmethod
    def function(parent, name, f):
        item = pytest.Function.from_parent(parent, name=name, callobj=f)
        return item

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.own is None or item not in self.own:
            return None
        from _pytest.runner import runtestprotocol
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        call = next((r for r in reports if r.when == "call"), None)
        got = "none" if call is None else call.outcome
        test = item.name.split("_test_", 1)[1]
        good = got == {"skip": "skipped", "pass": "passed"}.get(test, "failed") and all(r.outcome == "passed" for r in reports if r.when != "call")
        when = "before" if not self.states else "after"
        self.channel.send("probe", when + " " + test, "ok" if good else "bad", got)
        return True

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem):
        """Notes what a test raises, beside the reports that are made of it."""
        self.raised.pop(pyfuncitem.nodeid, None)
        outcome = yield
        if outcome.excinfo is not None and not issubclass(outcome.excinfo[0], (pytest.skip.Exception, unittest.SkipTest)):
            self.raised[pyfuncitem.nodeid] = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if self.channel is None:
            return
        status = None
        if hasattr(report, "wasxfail"):
            status = "xfail" if report.outcome == "skipped" else "xpass"
        elif report.outcome == "failed":
            status = "fail"
        elif report.outcome == "skipped":
            status = "skip"
        elif report.when == "call":
            status = "pass"
        if status and self.states.get(report.nodeid) != "fail":
            self.states[report.nodeid] = status
        if report.when == "teardown":
            if self.states.get(report.nodeid) == "pass" and self.raised.get(report.nodeid):
                self.channel.send("probe", "a failure that is taken for a pass", "bad", "")
            self.channel.send("test", self.states.get(report.nodeid, "fail"), report.nodeid, report.nodeid.split("::")[0])

    def pytest_collectreport(self, report):
        if self.channel is not None and report.failed:
            self.channel.send("test", "broken", report.nodeid, report.nodeid.split("::")[0])
        elif self.channel is not None and report.skipped and report.nodeid:
            self.channel.send("test", "skip", report.nodeid, report.nodeid.split("::")[0])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if self.channel is not None:
            self.channel.send("end", "ok" if int(exitstatus) in (0, 5) else "fail")
            self.channel.over()
