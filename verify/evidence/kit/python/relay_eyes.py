"""What relay sees of Python's tests by itself, beside what their runner says of them: whether
the code of a test is what its file says, whether anything jumps about in it, and whether what
it compares with is what it was before code of the repository ran. See sitecustomize.py."""
import ast
import builtins
import os
import re
import sys
import types
from importlib.machinery import PathFinder

# Taken now: the code under test may replace any of it.
_compile, _open, _parse, _getattr, _isinstance, _type = compile, open, ast.parse, getattr, isinstance, type
_frame, _tracer, _profiler, _vars, _any, _set, _len = sys._getframe, sys.gettrace, sys.getprofile, vars, any, set, len
_functions = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, classmethod, staticmethod, property, type)
_ours = ("shortDescription", "id", "setUp", "tearDown", "setUpClass", "tearDownClass", "__str__", "__repr__", "__doc__", "__module__")

# What tests and assertions compare by; honest tests mock the others, such as open and input.
_mocked = {"breakpoint", "compile", "eval", "exec", "exit", "help", "input", "open", "print", "quit"}
_builtins = {name for name in dir(builtins) if name[:1] != "_"}
_rests = _builtins - _mocked | {"__build_class__"}

# Where the types lie that values are compared by: ctypes writes there past the language's own rules.
_slots = [(id(t), 416) for t in (bool, bytes, dict, float, int, list, object, set, str, tuple, type, type(None))]


class Eyes:
    def __init__(self, root):
        self.root, self.told, self.send = root + "/", {}, None
        self.small, self.large, self.files, self.rewrite = [], [], {}, None
        self.modules = []
        self.first, self.case = None, ()
        self.watch("builtins", builtins, self.small, _rests)
        self.watch("re", re, self.large, ("compile", "findall", "fullmatch", "match", "search"))
        if hasattr(sys, "addaudithook"):  # Python 3.8
            sys.addaudithook(self.heard)

    def own(self, file):
        """Whether a file is the repository's, and not of an environment that lies in it."""
        return file.startswith(self.root) and "-packages/" not in file

    def tell(self, what):
        if what not in self.told:
            self.told[what] = True
            if self.send:
                self.send("probe", what, "bad", "")

    def to(self, send):
        """Begins to speak: the tests are about to be run, or to be collected."""
        self.send, self.first = send, (_tracer(), _profiler())
        for what in self.told:
            send("probe", what, "bad", "")

    # What is replaced.

    def watch(self, name, owner, into, only=None):
        held = _vars(owner)
        for key, value in list(held.items()):
            if (key in only if only else key not in _ours) and _isinstance(value, _functions):
                into.append((name + "." + key, held, key, value))

    def module(self, module, into=None):
        """Watches the functions of a runner's module, and those of its classes."""
        into = self.large if into is None else into
        self.watch(module.__name__, module, into)
        self.modules.append((module.__name__, _vars(module), _builtins & _vars(module).keys()))
        for key, value in list(_vars(module).items()):
            if _isinstance(value, _type) and value.__module__ == module.__name__:
                self.watch(key, value, into)
                into.extend((key + "." + k, _vars(value), k, v) for k, v in list(_vars(value).items()) if _type(v).__name__ in ("float", "Decimal"))  # tolerances

    def look(self, all=False):
        for name, held, key, value in self.small + self.large if all else self.small:
            if held.get(key) is not value:
                self.tell(name)
        for module, held, own in self.modules if all else ():  # a name that hides a builtin there
            for name in (_builtins & held.keys()) - own:
                self.tell(module + "." + name)

    # What jumps about in a test: a hook of this kind can't be taken away.

    def heard(self, event, args):
        if event == "object.__setattr__":
            if args[1] == "__code__" and self.foreign(args[0].__code__, args[2]):
                self.tell("the code of " + args[0].__name__)
            elif args[1] in ("__defaults__", "__kwdefaults__") and runners(args[0].__code__.co_filename):
                self.tell("the defaults of " + args[0].__name__)
        elif event == "sys.settrace" and self.first and _tracer() is not self.first[0]:
            self.traced()
        elif event == "ctypes.cdata" and _any(0 <= args[0] - a < s for a, s in _slots):
            self.tell("the memory of a type")

    def foreign(self, old, new):
        """Whether other code takes the place of the repository's or a runner's; flags are no other."""
        file = old.co_filename
        return (old.co_code, old.co_consts) != (new.co_code, new.co_consts) and (self.own(file) or runners(file))

    def traced(self):
        f, test = _frame(2), None
        while f:  # the outermost of the repository is the test's
            if self.own(f.f_code.co_filename):
                test = f
            f = f.f_back
        if test is not None and self.odd(test.f_trace, self.first[0]):
            self.tell("a trace in " + test.f_code.co_name)

    def begin(self):
        self.look()
        self.left("before")

    def left(self, when="by"):
        if self.first and (self.odd(_tracer(), self.first[0]) or self.odd(_profiler(), self.first[1])):
            self.tell("a trace that was left " + when + " a test")

    def odd(self, now, first):
        """Whether a tracer is new and may be the repository's; tools such as coverage set their own."""
        if now is None or now is first:
            return False
        code = _getattr(_getattr(now, "__func__", now), "__code__", None)
        return self.own(code.co_filename) if code else _type(now).__module__.split(".")[0] != "coverage"

    # What a test's code is.

    def code(self, name, function, raw, qualname, file):
        """Holds the function of a test, and what its class or module has under its name,
        against what its file says."""
        if not self.defines(file, qualname):
            return
        was, now = (_getattr(unwrapped(f), "__code__", None) for f in (raw, function))
        good = self.has(file, was) and not self.wrapped(raw, file)
        if not good and was and not self.own(was.co_filename):
            good = True  # what a library's class makes of its tests
        if now and now is not was and self.own(now.co_filename):
            good = False
        if not good:
            self.tell("the code of " + name)

    def defines(self, file, qualname):
        """Whether a file has a test of that name, and nothing beside its definition makes it."""
        if not file or not file.endswith(".py"):
            return False
        if file not in self.files:
            try:
                self.files[file] = self.read(file)
            except (OSError, SyntaxError, ValueError):
                self.files[file] = {}, _set(), [], ()
        return qualname in self.files[file][1]

    def has(self, file, code):
        return _any(code == c for c in self.files[file][0].get(code.co_name, ())) if code else False

    def wrapped(self, f, file):
        """Whether a function of the repository's, from no file of tests, stands before the one that is in a test's file."""
        for _ in range(20):
            code = _getattr(_getattr(f, "__func__", f), "__code__", None)
            if code and self.own(code.co_filename) and not self.of_tests(code.co_filename) and not self.has(file, code):
                return True
            f = _getattr(f, "__wrapped__", None)
        return False

    def of_tests(self, file):
        return "test" in file[_len(self.root):].lower()

    # What the files of tests, and those of their helpers, have under the names that they define.

    def named(self):
        """Holds the modules of tests against their files, when the tests have ended and put back what they replaced."""
        self.libraries()
        for module in list(sys.modules.values()):
            file = _getattr(module, "__file__", None)
            if not file or not self.own(file) or not self.of_tests(file) or self.defines(file, "") or file not in self.files:
                continue
            held, where = _vars(module), " of " + file[_len(self.root):]
            for name in self.files[file][1]:
                owner = held
                *classes, last = name.split(".")
                for c in classes:
                    owner = _vars(owner[c]) if _isinstance(owner.get(c), _type) else {}
                now = owner.get(last)
                if last in owner and not self.has(file, _getattr(now, "__code__", None)):
                    self.tell(name + where)
            hidden = _builtins & held.keys()
            for name in hidden and hidden - self.bound(file):
                self.tell(name + where)
            for alias, name, home, level in self.files[file][2]:
                if level:
                    home = ".".join([(module.__package__ or "").rsplit(".", level - 1)[0]] + ([home] if home else []))
                home = _getattr(sys.modules.get(home), "__file__", None)
                if alias in held and home and self.own(home) and self.of_tests(home) and self.defines(home, name) and not self.has(home, _getattr(held[alias], "__code__", None)):
                    self.tell(alias + where)

    # What tests call of Python's own libraries.

    def libraries(self):
        """Looks for modules of the repository in the place of libraries or of other modules that its tests import, and
        for functions of the code under test in the place of those of Python's own."""
        asked = {n for file, of in self.files.items() if self.own(file) and self.of_tests(file) for n in of[3]}
        for name in sorted(asked | _values):
            module, top = sys.modules.get(name), sys.modules.get(name.split(".")[0])
            if not _getattr(module, "__file__", None) and not _getattr(module, "__spec__", None) and self.made_up(module):
                self.tell("another " + name)
            if top is None or module is None:
                continue
            if self.of_code(_getattr(top, "__file__", None) or ""):
                if name in asked and (library(top.__name__) or self.hides(top)):
                    self.tell("another " + top.__name__)
            elif own_library(top.__name__):
                self.replaced(module, name, list(_vars(module)))
                for cls in list(_vars(module).values()):
                    if _isinstance(cls, _type) and sys.modules.get(cls.__module__.split(".")[0]) is top:
                        self.replaced(cls, name + "." + cls.__name__, list(_vars(cls)))

    def hides(self, module):
        """Whether Python would find another file of the repository, were this module's not there."""
        real = os.path.realpath
        home = os.path.dirname(module.__file__)
        home = real(os.path.dirname(home) if hasattr(module, "__path__") else home)
        spec = PathFinder.find_spec(module.__name__, [p for p in sys.path if real(p) != home])
        return spec is not None and self.own(_getattr(spec, "origin", None) or "")

    def replaced(self, owner, name, keys):
        for key in keys:
            value = _vars(owner).get(key)
            value = _getattr(value, "__func__", value)
            code = _getattr(value, "__code__", None)
            if code is None and callable(value):
                of = value if _isinstance(value, _type) else _type(value)
                code = _getattr(sys.modules.get(of.__module__), "__file__", None)
            file = _getattr(code, "co_filename", code)
            if _isinstance(file, str) and key not in _hooks and self.of_code(file) and has_name(owner, key):
                self.tell(name + "." + key)

    def made_up(self, module):
        """Whether code under test has put together what has the name of a module."""
        if not _isinstance(module, types.ModuleType):
            return False
        codes = [_getattr(v, "__code__", None) for v in list(_vars(module).values()) if not _isinstance(v, _type)]
        return _any(self.of_code(c.co_filename) for c in codes if c)

    def of_code(self, file):
        return self.own(file) and not self.of_tests(file)

    def homeless(self, name, method):
        """Looks at a method whose module has no file, although its code has one."""
        code = _getattr(unwrapped(method), "__code__", None)
        if code and self.own(code.co_filename):
            self.tell("the code of " + name)

    # What a single test, or its class, is given of its own.

    def follow(self, case):
        self.case = _set(dir(case)) - _set(_ours)

    def own_ways(self, test):
        return _type(test), _set(_vars(test)), dict(_getattr(test, "_type_equality_funcs", None) or {})

    def other_ways(self, test, before):
        """Looks for assertions that a test got while it ran, from elsewhere than files of tests."""
        cls, names, equal = before
        if _type(test) is not cls:
            self.tell("the class of " + cls.__name__)
        now = [(k, v) for k, v in _vars(test).items() if k not in names and k in self.case]
        for c in cls.__mro__:
            if self.own(_getattr(sys.modules.get(c.__module__), "__file__", None) or ""):
                held = _vars(c)
                now += [(k, held[k]) for k in self.case if k in held]
        now += [("addTypeEqualityFunc", v) for k, v in (_getattr(test, "_type_equality_funcs", None) or {}).items() if equal.get(k) is not v]
        for key, value in now:
            code = _getattr(unwrapped(value), "__code__", None)
            if code and self.own(code.co_filename) and not self.of_tests(code.co_filename):
                self.tell("TestCase." + key + " of " + cls.__name__)

    def bound(self, file):
        """The builtins that a module has a name of its own for."""
        names = _set()
        with _open(file, "rb") as f:
            tree = _parse(f.read(), file)
        for node in ast.walk(tree):
            if _isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif _isinstance(node, ast.Name) and _isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif _isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update((a.asname or a.name).split(".")[0] for a in node.names)
            elif _isinstance(node, ast.Call) and _getattr(node.func, "id", "") in ("setattr", "globals", "exec"):
                return _builtins
        return _builtins if "*" in names else names

    def read(self, file):
        with _open(file, "rb") as f:
            source = f.read()
        tree = _parse(source, file)
        codes, made = {}, [_compile(tree, file, "exec", 0, True)]
        if self.rewrite:
            made.append(self.rewrite(file))
        while made:
            code = made.pop()
            codes.setdefault(code.co_name, []).append(code)
            made.extend(c for c in code.co_consts if _isinstance(c, types.CodeType))
        imported = [(a.asname or a.name, a.name, n.module, n.level) for n in tree.body if _isinstance(n, ast.ImportFrom) for a in n.names]
        modules = [a.name for n in ast.walk(tree) if _isinstance(n, ast.Import) for a in n.names]
        modules += [n.module for n in ast.walk(tree) if _isinstance(n, ast.ImportFrom) and n.module and not n.level]
        return codes, plain(tree), imported, modules


# What values are made of that tests compare, whoever imports it.
_values = {"collections", "dataclasses", "datetime", "decimal", "enum", "fractions", "pathlib", "uuid"}

# What Python itself lets programs set.
_hooks = {"breakpointhook", "default", "displayhook", "excepthook", "formatwarning", "showwarning", "unraisablehook"}


def own_library(top):
    names = _getattr(sys, "stdlib_module_names", None)  # Python 3.10
    at = os.path.join(os.path.dirname(os.__file__), top)
    return top in names if names else top in sys.builtin_module_names or os.path.exists(at) or os.path.exists(at + ".py")


def library(top):
    """Whether there is one of that name beside the repository's."""
    if own_library(top):
        return True
    return PathFinder.find_spec(top, [p for p in sys.path if "-packages" in p]) is not None


def has_name(owner, key):
    """Whether a library's module or class has a name by its own source."""
    module = owner if _isinstance(owner, types.ModuleType) else sys.modules.get(owner.__module__)
    file = _getattr(module, "__file__", None) or ""
    if not file.endswith(".py") or key in _getattr(module, "__all__", ()):
        return True
    with _open(file, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if re.search(r"\b(def|class)\s+%s\b" % key, text):
        return True
    # A module's own variables hold what programs give it by its functions, such as logging.setLoggerClass.
    return (key[:1] != "_" or owner is not module) and re.search(r"(?m)^\s*%s\b.*=|\bimport\b.*\b%s\b" % (key, key), text) is not None


def runners(file):
    return "/_pytest/" in file or "/unittest/" in file


def unwrapped(f):
    for _ in range(20):
        f = _getattr(f, "__func__", f)
        if not hasattr(f, "__wrapped__"):
            break
        f = f.__wrapped__
    return f


def mark(decorator):
    """Whether a decorator is one of pytest's marks, which return the function itself."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "mark"


def plain(tree):
    """The tests that are what their definition says: nothing decorates or assigns them."""
    out, twice = set(), set()

    def walk(body, prefix):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = prefix + node.name
                if name in out or not all(mark(d) for d in node.decorator_list):
                    twice.add(name)
                out.add(name)
            elif isinstance(node, ast.ClassDef) and not node.decorator_list and not node.keywords:
                walk(node.body, prefix + node.name + ".")
    walk(tree.body, "")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            twice.update(n for n in out if n.split(".")[-1] == node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            twice.update(n for n in out if n.split(".")[-1] == node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "globals", "exec"):
            return set()
    return out - twice
