"""The reporter for pytest, and its probes: see sitecustomize.py."""
import importlib.util
import inspect
import os
import pathlib
import sys
import unittest

import pytest
from relay_evidence import Channel
from relay_watch import followed, watch

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


_pipe = os.environ.get("RELAY_EVIDENCE")
_skips = pytest.skip.Exception, unittest.SkipTest


def rewriter():
    """What pytest makes of a test's file, by a copy of its rewriting that nobody else has."""
    spec = importlib.util.find_spec("_pytest.assertion.rewrite")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def rewrite(file):
        return module._rewrite_test(pathlib.Path(file), rewrite.config)[1]
    return rewrite


class Plugin:
    def __init__(self, origin, eyes):
        self.channel, self.origin, self.own, self.raised, self.eyes = None, origin, None, {}, eyes
        self.item, self.put_back = None, None
        for name in sorted(sys.modules):
            if name.split(".")[0] in ("_pytest", "pluggy") and name != "_pytest.config" or name in ("unittest.case", "unittest.util"):  # pytest itself patches its Config
                eyes.module(sys.modules[name])
        eyes.watch("TestCase", unittest.TestCase, eyes.small)
        eyes.rewrite = rewriter()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session):
        self.worker = hasattr(session.config, "workerinput")  # of xdist: its controller names the tests
        self.channel = Channel("pytest", self.origin)
        self.channel.outermost()
        self.states = {}
        self.eyes.rewrite.config = session.config
        self.eyes.to(self.channel.send)
        self.put_back = watch(self.raised, self.eyes, self.called)
        if getattr(session.config.option, "numprocesses", None):
            os.environ["RELAY_EVIDENCE"] = _pipe  # for its workers, which it starts now
        yield
        os.environ.pop("RELAY_EVIDENCE", None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        """Probes go before the first and behind the last test."""
        if self.channel is None or self.worker or session.config.option.collectonly or getattr(session.config.option, "numprocesses", None) or not session.items:
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

    def called(self, test):
        """The item whose TestCase calls its method; None where a test runs another."""
        item = self.item
        return item.nodeid if item is not None and test in (getattr(item, "_testcase", None), getattr(item, "instance", None)) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.item = item
        if self.own is None or item not in self.own:
            if followed(getattr(item, "cls", None)):
                self.raised[item.nodeid] = None
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
        item, eyes = pyfuncitem, self.eyes
        if self.channel is None or self.own is not None and item in self.own:
            yield
            return
        self.raised[item.nodeid] = None
        eyes.begin()
        function = item.obj
        raw = vars(item.cls or item.module).get(item.originalname)
        qualname = (item.cls.__qualname__ + "." if item.cls else "") + str(item.originalname)
        eyes.code(item.nodeid, function, raw, qualname, getattr(item.module, "__file__", None))
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            self.raised[item.nodeid] = False  # another plugin runs it
        else:
            item.obj = self.observed(item.nodeid, function)
        outcome = yield
        item.obj = function
        eyes.left()
        if outcome.excinfo is not None and not issubclass(outcome.excinfo[0], _skips):
            self.raised[item.nodeid] = True

    def observed(self, nodeid, function):
        def call(*args, **kwargs):
            __tracebackhide__ = True
            self.raised[nodeid] = False
            try:
                return function(*args, **kwargs)
            except _skips:
                raise
            except BaseException:
                self.raised[nodeid] = True
                raise
        return call

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
            if self.states.get(report.nodeid) == "pass":
                if self.raised.get(report.nodeid):
                    self.channel.send("probe", "a failure that is taken for a pass", "bad", "")
                elif report.nodeid in self.raised and self.raised[report.nodeid] is None:
                    self.channel.send("probe", report.nodeid + " is told as passed, and was not run", "bad", "")
            if self.worker:
                self.channel.send("saw", self.states.get(report.nodeid, "fail"), report.nodeid)
            else:
                self.channel.send("test", self.states.get(report.nodeid, "fail"), report.nodeid, report.nodeid.split("::")[0])

    def pytest_collectreport(self, report):
        if self.channel is None or self.worker:
            return
        if report.failed:
            self.channel.send("test", "broken", report.nodeid, report.nodeid.split("::")[0])
        elif report.skipped and report.nodeid:
            self.channel.send("test", "skip", report.nodeid, report.nodeid.split("::")[0])

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if self.channel is not None and self.worker:  # before its controller lets it end
            self.finish(exitstatus)
        yield
        if self.channel is not None and not self.worker:
            self.finish(exitstatus)

    def finish(self, exitstatus):
        if not self.put_back():
            self.eyes.tell("TestCase._callTestMethod")
        self.eyes.look(True)
        self.eyes.named()
        self.channel.send("end", "ok" if int(exitstatus) in (0, 5) else "fail")
        self.channel.over()
