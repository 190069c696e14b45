import sys

sys.path.pop(0)  # what is imported here is Python's own
import importlib, importlib.util, json, os

calls, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.path.insert(0, os.getcwd())


def say(**answer):
    try:
        text = json.dumps(answer)
    except (TypeError, ValueError) as e:
        text = json.dumps({"error": type(e).__name__, "message": "the value is none of JSON's: %s" % e})
    answers.write(text + "\n")
    answers.flush()


name = sys.argv.pop(1)
try:
    if "/" in name or name.endswith(".py"):
        spec = importlib.util.spec_from_file_location(os.path.basename(name)[:-3], name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(name)
except BaseException as e:
    say(failed="%s can't be loaded: %s: %s" % (name, type(e).__name__, e))
    sys.exit(1)
say()
for line in calls:
    q = json.loads(line)
    try:
        f = module
        for part in q["call"].split("."):
            f = getattr(f, part)
        value = f(*q["args"])
    except BaseException as e:
        say(error=type(e).__name__, message=str(e))
    else:
        say(value=value)
