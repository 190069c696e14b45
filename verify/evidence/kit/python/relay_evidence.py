"""The channel to relay, and the reporter for unittest. See sitecustomize.py."""
import os
import sys

__unittest = True  # as its own modules say, which are left out of what a failed test prints

# What is needed later is taken now: the code under test may replace any of it.
_write, _open, _getpid = os.write, os.open, os.getpid
_flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
_path = os.environ.get("RELAY_EVIDENCE")
_root = os.environ.get("RELAY_EVIDENCE_ROOT") or os.getcwd()
_str, _len, _bytes = str, len, bytes
_running = []

# What else tests compare with, or are run by. Few of them import it.
_compares = ("doctest", "unittest._log", "unittest.async_case", "unittest.mock")


def _field(v, most=1500):
    v = _str(v).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return v.encode("utf-8", "backslashreplace")[:most]


class Channel:
    """One process's line to relay: each record is one write, which none can take back."""

    def __init__(self, runner, origin=""):
        self.me = "%s-%d-%s" % (runner, _getpid(), os.urandom(4).hex())
        try:
            self.fd = _open(_path, _flags)
        except OSError:
            self.fd = -1
        self.pid = _getpid()
        self.send("begin", runner, origin, relative(os.getcwd()))

    def outermost(self):
        """What a test starts, in this process or another, is its own affair: nothing of it is reported."""
        _running.append(self)
        os.environ.pop("RELAY_EVIDENCE", None)

    def over(self):
        _running.clear()
        os.environ["RELAY_EVIDENCE"] = _path

    def send(self, kind, *fields):
        if self.fd >= 0:
            try:
                _write(self.fd, b"\t".join([kind.encode(), self.me.encode()] + [_field(f) for f in fields]) + b"\n")
            except OSError:
                self.fd = -1


def relative(path):
    try:
        rel = os.path.relpath(path, _root)
    except (TypeError, ValueError):
        return ""
    return "" if rel.startswith("..") else rel


def install(sys, os):
    """Waits for the modules of the runners to be imported, and hooks into them then."""
    hooks = {"unittest.runner": hook_unittest, "_pytest.config": hook_pytest}
    hooks.update(dict.fromkeys(_compares, hook_compares))

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            hook = hooks.pop(name, None)
            if hook is None:
                return None
            import importlib.util
            spec = importlib.util.find_spec(name)
            if spec is None or spec.loader is None:
                return spec
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                hook(module)
            try:
                spec.loader.exec_module = exec_module
            except AttributeError:
                return None
            return spec
    sys.meta_path.insert(0, Finder)


def hook_compares(module):
    if "relay_watch" in sys.modules:
        sys.modules["relay_watch"].imported(module)


def hook_pytest(module):
    from relay_watch import eyes_of
    get, eyes = module.get_config, eyes_of(_root, _compares)

    def get_config(*args, **kwargs):
        import relay_pytest
        config = get(*args, **kwargs)
        if _running:
            return config
        config.pluginmanager.register(relay_pytest.Plugin(module.__file__, eyes), "p" + os.urandom(8).hex())
        return config
    module.get_config = get_config


def hook_unittest(module):
    from relay_watch import eyes_of, watch
    run, eyes = module.TextTestRunner.run, eyes_of(_root, _compares)
    eyes.watch("TestCase", sys.modules["unittest.case"].TestCase, eyes.small)
    for name in ("unittest.case", "unittest.result", "unittest.suite", "unittest.util"):
        eyes.module(sys.modules[name])

    def recorded(self, test):
        if _running:
            return run(self, test)
        channel = Channel("unittest", module.__file__)
        channel.outermost()
        try:
            return reported(self, test, channel)
        finally:
            channel.over()

    def reported(self, test, channel):
        make = self._makeResult
        raised = {}

        def make_result():
            result = make()
            return recorder(result, channel, raised)
        home = module_of(test)
        before = controls(channel, make, "before", home)
        self._makeResult = make_result
        eyes.look(True)
        eyes.to(channel.send)
        own = watch(raised, eyes)
        try:
            result = run(self, test)
        finally:
            del self._makeResult
            if not own():
                channel.send("probe", "the call of a test's method", "bad", "")
            eyes.look(True)
            eyes.left()
            eyes.named()
        if before is not None:
            controls(channel, make, "after", home)
        channel.send("end", "ok" if result.wasSuccessful() else "fail")
        return result
    module.TextTestRunner.run = recorded


def file_of(test):
    module = sys.modules.get(type(test).__module__)
    return relative(getattr(module, "__file__", None))


def recorder(result, channel, raised):
    """The result, of a class of its own that also tells relay: methods that are replaced in
    the class below it, by the code under test, change nothing here."""
    from relay_watch import followed
    base = type(result)
    broken, told, parts = set(), set(), {}

    def say(test, status):
        name = test.id() if hasattr(test, "id") else _str(test)
        if status == "fail":  # once, however often: in its subtests, and again at its end
            if name in broken:
                return
            broken.add(name)
        if type(test).__name__ == "_FailedTest":
            module = name.split("_FailedTest.", 1)[-1]
            channel.send("test", "broken", module, module.replace(".", "/"))
        elif type(test).__name__ == "_ErrorHolder":
            channel.send("test", "broken", name, "")  # setUpClass and its like are named only where they fail
        else:
            told.add(name)
            channel.send("test", status, name, file_of(test))

    class Recorder(base):
        def addSuccess(self, test):
            if test.id() not in broken:
                if raised.get(test.id()) not in ("", None):
                    channel.send("probe", "a failure that is taken for a pass", "bad", "")
                elif followed(type(test)) and test.id() not in raised:
                    channel.send("probe", test.id() + " is told as passed, and was not run", "bad", "")
                say(test, "pass")
            return base.addSuccess(self, test)

        def addFailure(self, test, err):
            say(test, "fail")
            return base.addFailure(self, test, err)

        def addError(self, test, err):
            say(test, "fail")
            return base.addError(self, test, err)

        def addSkip(self, test, reason):
            if hasattr(test, "test_case"):  # one of its subtests: counted, and the test itself continues
                name = test.test_case.id()
                parts[name] = parts.get(name, 0) + 1
                channel.send("test", "skip", "%s (skipped subtest %d)" % (name, parts[name]), file_of(test.test_case))
            else:
                say(test, "skip")
            return base.addSkip(self, test, reason)

        def stopTest(self, test):
            if test.id() in parts and test.id() not in told and raised.get(test.id(), "") == "":
                say(test, "pass")  # unittest itself says nothing of it
            return base.stopTest(self, test)

        def addExpectedFailure(self, test, err):
            say(test, "xfail")
            return base.addExpectedFailure(self, test, err)

        def addUnexpectedSuccess(self, test):
            say(test, "xpass")
            return base.addUnexpectedSuccess(self, test)

        def addSubTest(self, test, subtest, err):
            if err is not None:
                say(test, "fail")
            return base.addSubTest(self, test, subtest, err)
    Recorder.__name__, Recorder.__qualname__ = base.__name__, base.__qualname__
    try:
        result.__class__ = Recorder
    except TypeError:
        channel.send("probe", "unittest", "bad", "the runner's result can't be followed")
    return result


def module_of(test):
    """The module of the first test, whose probes can't be told from its own by it."""
    for t in test if hasattr(test, "__iter__") else ():
        name = module_of(t)
        if name:
            return name
    name = type(test).__module__
    return "" if name.startswith("unittest") else name


def controls(channel, make, when, home):
    """Holds the runner to what it is for: a test that can't pass must fail, and so on. The
    runner's own kind of result counts them, apart from those of the repository."""
    import io
    import unittest

    class Probe(unittest.TestCase):
        def test_equal(self):
            self.assertEqual(1, 2)

        def test_equal_text(self):
            self.assertEqual("a", "b")

        def test_equal_list(self):
            self.assertEqual([1], [2])

        def test_equal_dict(self):
            self.assertDictEqual({1: 1}, {1: 2})

        def test_true(self):
            self.assertTrue(False)

        def test_false(self):
            self.assertFalse(True)

        def test_in(self):
            self.assertIn(1, [2])

        def test_none(self):
            self.assertIsNone(1)

        def test_is(self):
            self.assertIs(1, None)

        def test_almost(self):
            self.assertAlmostEqual(1.0, 2.0)

        def test_raises(self):
            with self.assertRaises(ValueError):
                pass

        def test_assert(self):
            assert 1 == 2

        def test_fail(self):
            self.fail()

        def test_error(self):
            raise KeyError("x")

        def test_skip(self):
            self.skipTest("x")

        def test_pass(self):
            self.assertEqual([1, "a"], [1, "a"])
    Probe.__name__ = Probe.__qualname__ = "P" + os.urandom(4).hex()
    Probe.__module__ = home or Probe.__name__
    want = {"test_error": "errors", "test_skip": "skipped", "test_pass": ""}
    out = sys.stdout, sys.stderr
    try:
        for name in sorted(n for n in dir(Probe) if n.startswith("test_")):
            result = make()
            if hasattr(result, "stream"):
                result.stream = type(result.stream)(io.StringIO())
            Probe(name).run(result)
            kind = want.get(name, "failures")
            got = [k for k in ("failures", "errors", "skipped") if getattr(result, k)]
            good = got == ([kind] if kind else []) and result.testsRun == 1 and result.wasSuccessful() == (kind in ("", "skipped"))
            channel.send("probe", when + " " + name[5:], "ok" if good else "bad", ",".join(got))
    except Exception as e:
        channel.send("probe", when, "bad", type(e).__name__)
    finally:
        sys.stdout, sys.stderr = out
    return True
