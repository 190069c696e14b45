"""How relay follows the methods of unittest's tests, for unittest and for pytest, and what it watches
as soon as somebody imports it. See sitecustomize.py."""
import sys

from relay_eyes import Eyes

__unittest = True  # as its own modules say, which are left out of what a failed test prints

_all = []  # the eyes of the runners that are here
_follow = []  # by which a watch that has begun follows one more class
_ways = set()


def eyes_of(root, compares):
    eyes = Eyes(root)
    _all.append(eyes)
    for name in compares:
        if name in sys.modules:
            eyes.module(sys.modules[name])
    return eyes


def imported(module):
    for eyes in _all:
        eyes.module(module)
    for follow in _follow:
        isolated(follow)


def isolated(follow):
    """Follows the class of asynchronous tests too, which has a way of its own."""
    module = sys.modules.get("unittest.async_case")
    if module is not None:
        follow(module.IsolatedAsyncioTestCase)


def watch(raised, eyes, key=lambda test: test.id()):
    """Notes what the methods of tests raise, beside the result, which their code can reach."""
    import unittest
    if not hasattr(unittest.TestCase, "_callTestMethod"):
        return lambda: True
    eyes.follow(unittest.TestCase)
    ways = {}

    def follow(cls):
        if cls not in ways:
            ways[cls] = way_of(cls, raised, eyes, key), cls._callTestMethod
            own = cls.__name__ + "._callTestMethod"
            eyes.small = [w for w in eyes.small if w[0] != own]
            eyes.large = [w for w in eyes.large if w[0] != own]
            cls._callTestMethod = ways[cls][0]
    follow(unittest.TestCase)
    isolated(follow)
    _follow.append(follow)

    def own():
        _follow.remove(follow)
        there = True
        for cls, (way, call) in ways.items():
            if cls._callTestMethod is way:
                cls._callTestMethod = call
            else:
                there = False
        return there
    return own


def way_of(cls, raised, eyes, key):
    """The way in which a class calls the method of a test, and relay notes how that ends."""
    import unittest
    call = cls._callTestMethod
    if cls is not unittest.TestCase:
        from inspect import iscoroutinefunction

    def note(name, e):
        if not isinstance(e, unittest.SkipTest):
            raised[name] = type(e).__name__

    def _callTestMethod(self, method):
        name = key(self)
        if name is None:  # of an inner run
            return call(self, method)
        eyes.begin()
        code(self, eyes, method)
        before = eyes.own_ways(self)
        if cls is not unittest.TestCase and iscoroutinefunction(method):
            test = method  # noted from within: it may never be awaited

            async def method():
                raised[name] = ""
                try:
                    return await test()
                except BaseException as e:
                    note(name, e)
                    raise
        else:
            raised[name] = ""
        try:
            return call(self, method)
        except BaseException as e:
            note(name, e)
            raise
        finally:
            eyes.left()
            eyes.other_ways(self, before)
    _ways.add(_callTestMethod)
    return _callTestMethod


def followed(cls):
    """Whether the methods of a TestCase are called by what watch has put there: it may have its own way."""
    return getattr(cls, "_callTestMethod", None) in _ways


def code(test, eyes, method):
    """Looks at what is about to be called as a TestCase's method: the first of its classes whose
    file defines one of that name is where it has to come from."""
    name = getattr(test, "_testMethodName", "")
    for cls in type(test).__mro__:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        qualname = cls.__qualname__ + "." + name
        if file and eyes.own(file) and eyes.defines(file, qualname):
            eyes.code(test.id(), method, vars(cls).get(name), qualname, file)
            return
        if name in vars(cls):
            if not file:
                eyes.homeless(test.id(), vars(cls)[name])
            return
