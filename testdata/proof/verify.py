#!/usr/bin/env python3
"""Verifies relay's attestations without relay: Python, git and ssh-keygen (OpenSSH 9.1 or later).

  verify.py --signers FILE [--repo DIR] [--notes REF] COMMIT|RANGE...
  verify.py [--repo DIR] --cases cases.jsonl        the corpus beside this file

Prints for each commit verified, changed or not covered, and why; exits with 2 when one is not verified, 3 when one
could not be looked at. Shares no code with relay: written from docs/guides/proof.md and schemas/attestation.schema.json.
"""
import argparse, base64, datetime, hashlib, itertools, json, math, os, re, subprocess, sys, tempfile
os.environ["TZ"] = "UTC"  # for ssh-keygen: a time without Z means the same on every machine
FACTS, PAYLOAD, APPROVAL = "https://github.com/paxiom/relay/attestation/v1", "application/vnd.in-toto+json", "application/vnd.relay.approval+json"
NAMESPACE = {PAYLOAD: "relay-attestation", APPROVAL: "relay-approval"}
OPTION = rb'(?i:namespaces="[^"]*"|valid-(after|before)="\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])[0-5]\d([0-5]\d)?)?Z?")'
SIGNER = rb'\s*(?!#)("[^"]+"|[^ \t\n]+)[ \t]+((?i:(?!.*(namespaces|after|before)=.*\3=))%s(,%s)*[ \t]+)?ssh-ed25519[ \t]+AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}\s' % (OPTION, OPTION)

class Bad(Exception): """What was found is not to be believed."""
class Lost(Exception): """It could not be looked at."""
MISSHAPEN = Bad, ValueError, LookupError, TypeError, AttributeError, RecursionError  # a value is missing, or of another kind
KINDS = {"object": [dict], "array": [list], "string": [str], "integer": [int], "number": [int, float], "null": [type(None)], "boolean": [bool]}
SCHEMA = json.load(open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../schemas/attestation.schema.json")))

def need(ok, why, kind=Bad):
    if not ok: raise kind(why)
def sha256(text): return hashlib.sha256(text.encode()).hexdigest()
def string(b): return len(b).to_bytes(4, "big") + b  # as SSH writes it
def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a key is there twice")
    return dict(pairs)
def fold(key): return key.lower().replace("ſ", "s")
def number(text):
    need(len(text) <= 64 and abs(int(text.lower().partition("e")[2] or 0)) <= 400, "a number is too large")
    return float(text) if set(text) & set(".eE") else int(text)

def read(payload):
    """The JSON of a payload: UTF-8 without half of a character, each key once, bounded."""
    text = payload.decode()
    v = json.loads(text, object_pairs_hook=unique, parse_int=number, parse_float=number, parse_constant=number)
    json.dumps(v, ensure_ascii=False).encode()
    depth = itertools.accumulate((c in "[{") - (c in "]}") for c in re.sub(r'"(\\.|[^"\\])*"', "", text))
    need(max(depth) <= 32 and not re.search(r"(?<!\\)(\\\\)*\\u0000", text), "it is not JSON that is read")
    return v

def fits(v, s):
    """Holds a value to a schema; whole numbers have no fraction and 64 bits."""
    s = SCHEMA["$defs"][s["$ref"][8:]] if "$ref" in s else s
    kinds, known, more = s.get("type", KINDS), s.get("properties", {}), s.get("additionalProperties", {})
    need(any(type(v) in KINDS[k] for k in ([kinds] if isinstance(kinds, str) else kinds)) and v in s.get("enum", [s.get("const", v)]), "a value is another one")
    if isinstance(v, str): need(re.fullmatch(s.get("pattern", "(?s:.*)"), v), "a text is another one")
    elif isinstance(v, (int, float)):
        need(kinds is KINDS or math.isfinite(v) and v >= s.get("minimum", v) and (kinds != "integer" or -2**63 <= v < 2**63), "a number is out of its range")
    elif isinstance(v, list):
        need(all(fits(x, s.get("items", {})) for x in v[:s.get("maxItems")]) and len(v) <= s.get("maxItems", len(v)), "a list is too long")
    elif isinstance(v, dict):
        need(set(s.get("required", ())) <= set(v) and not any(k not in known and fold(k) in map(fold, known) for k in v), "a key is missing, or in other letters")
        return all(fits(x, known.get(k, more or {})) for k, x in v.items())
    return True

class Repo:
    def __init__(self, path):
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.env.update(GIT_NO_REPLACE_OBJECTS="1", GIT_NO_LAZY_FETCH="1", GIT_GRAFT_FILE=os.devnull + "/none", GIT_SHALLOW_FILE="", LC_ALL="C")
        self.base = ["git", "-C", path, "-c", "core.quotePath=true", "-c", "core.commitGraph=false", "-c", "protocol.allow=never"]
        self.hash = self.git("rev-parse", "--show-object-format").strip()
        self.cat = subprocess.Popen(self.base + ["cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
    def git(self, *args):
        r = subprocess.run(self.base + list(args), capture_output=True, env=self.env)
        need(r.returncode == 0, "git: " + r.stderr.decode(errors="replace").strip(), Lost)
        return r.stdout.decode(errors="surrogateescape")
    def read(self, name, must=False):
        """An object whose name was computed again; None when it is not there."""
        need(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", name), "not the name of an object")
        self.cat.stdin.write(name.encode() + b"\n")
        self.cat.stdin.flush()
        head = self.cat.stdout.readline().decode().split()
        need(head, "git can't read the object " + name, Lost)
        if len(head) != 3: return need(not must, "an object is not there: " + name, Lost)
        body = self.cat.stdout.read(int(head[2]) + 1)[:-1]
        need(hashlib.new(self.hash, f"{head[1]} {len(body)}\0".encode() + body).hexdigest() == name, "a damaged object: " + name, Lost)
        return body
    def commit(self, name):
        """The tree and the parents of a commit, and the runs that its message names."""
        head, _, message = self.read(name).decode(errors="surrogateescape").partition("\n\n")
        runs = re.findall(r"^[ \t\r]*relay-(?:run|step)[ \t\r]*:(.*)$", message, re.A | re.I | re.M)
        tree, parents = re.match("tree (.*)\n((?:parent .*\n)*)", head + "\n").groups()
        return tree, [row[7:] for row in parents.split("\n")[:-1]], [run.strip(" \t\r") for run in runs]
    def notes(self, ref):  # for each commit the object of its note; "" where that is larger than 2 MiB
        if not self.git("for-each-ref", ref):  # git is silent about a ref that it can't read, too
            return need(not os.path.isfile(os.path.join(self.git("rev-parse", "--path-format=absolute", "--git-common-dir")[:-1], ref)), "damaged notes", Lost) or {}
        rows = re.findall(r"\d+ blob (\w+) +(\d+|BAD)\t([^\0]+)\0", self.git("ls-tree", "-r", "-l", "-z", "--full-tree", ref))
        return {path.replace("/", ""): blob if size == "BAD" or int(size) <= 2 << 20 else "" for blob, size, path in rows}
    def commits(self, what):
        names = self.git("rev-parse", "--revs-only", "--end-of-options", what, "--").split()
        need(any(n[0] != "^" for n in names), "it says only what to leave out", Lost)
        how = ("--reverse", "--topo-order") if any(n[0] == "^" for n in names) else ("--no-walk",)
        return self.git("rev-list", *how, *(n + "^{commit}" * (n[0] != "^") for n in names)).split() or need(False, "a range without a commit", Lost)

def envelope(text, kind):
    """The payload, the signature and its key of an envelope, which has one form only, and one signature."""
    e = json.loads(text, object_pairs_hook=unique)
    payload, sig, key_id = base64.b64decode(e["payload"]), base64.b64decode(e["signatures"][0]["sig"]), e["signatures"][0]["keyid"]
    same = {"payloadType": kind, "payload": base64.b64encode(payload).decode(), "signatures": [{"keyid": key_id, "sig": base64.b64encode(sig).decode()}]}
    need(text == json.dumps(same, separators=(",", ":")), "another envelope, or another spelling of it")
    blob = string(b"ssh-ed25519") + string(sig[33:65])
    need(sig == b"SSHSIG" + (1).to_bytes(4, "big") + string(blob) + string(NAMESPACE[kind].encode()) + string(b"") + string(b"sha512")
         + string(string(b"ssh-ed25519") + string(sig[-64:])), "another kind of signature")
    need(int.from_bytes(sig[-32:], "little") < 2**252 + 27742317777372353535851937790883648493, "another spelling of the signature")
    need(key_id == "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("="), "another key is named")
    return payload, sig, key_id

def parse(note):
    """The payload, the statement and the signature of a note, which has one form only."""
    last = (text := note.decode()).removesuffix("\n").rpartition("\n\n")[2]
    payload, sig, _ = envelope(last, PAYLOAD)
    fits(statement := read(payload), SCHEMA)
    need("\n".join(statement["predicate"][FACTS]["summary"]) + "\n\n" + last + "\n" == text, "the note does not say what its statement says")
    return payload, statement, sig

def signer(payload, sig, when, signers, kind=PAYLOAD):
    """The name of the signer, as ssh-keygen finds it."""
    need(re.fullmatch("[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z", when) and datetime.datetime.fromisoformat(when[:-1]).year > 1969, "it has no time")
    at = "-Overify-time=" + re.sub("[-:T]", "", when)
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    with tempfile.NamedTemporaryFile("w", suffix=".sig") as f:
        print("-----BEGIN SSH SIGNATURE-----\n" + base64.encodebytes(sig).decode() + "-----END SSH SIGNATURE-----", file=f, flush=True)
        for name in subprocess.run(["ssh-keygen", "-Y", "find-principals", "-s", f.name, "-f", signers, at], capture_output=True).stdout.splitlines():
            if subprocess.run(["ssh-keygen", "-Y", "verify", "-f", signers, "-I", name, "-n", NAMESPACE[kind], "-s", f.name, at], input=pae, capture_output=True).returncode == 0:
                return name.decode(errors="replace")
    raise Bad("nobody who is believed has signed it")

def opened(note, signers):
    """What a signer says: the facts, and the commits and the tree that they are about."""
    payload, s, sig = parse(note)
    name, r = signer(payload, sig, (p := s["predicate"])["timeVerified"], signers), p[FACTS]
    need(r["code"] == "SUCCESS", "it did not pass")
    of = [(subject["name"], *subject["digest"]) for subject in s["subject"]]
    need(1 < len(of) <= 1001 and of == [("commit", "gitCommit")] * (len(of) - 1) + [("tree", "gitTree")], "another subject")
    *commits, tree = [value for subject in s["subject"] for value in subject["digest"].values()]
    need(p["resourceUri"].endswith(":" + commits[-1]), "another resource than its subject")
    return name, p, r, commits, tree

def approved(a, r, signers):
    """Checks who gave an approval; nobody says so where it has no key."""
    is_of = {"base": r["base"], "task_sha256": r["task"]["sha256"], "touched_sha256": r["touched"]["sha256"]}
    need((a["task_sha256"], a["base"]) == (is_of["task_sha256"], r["base"]), "an approval is for something else")
    if a["key"] is None and not a.get("signed"): return
    payload, sig, key_id = envelope(a["signed"], APPROVAL)
    signer(payload, sig, (yes := read(payload))["at"], signers, APPROVAL)
    need(all(yes.values()) and (yes.pop("kind"), yes.pop("at"), key_id) == (a["kind"], a["at"], a["key"]), "an approval is not what its key has signed")
    need(yes and yes.items() <= is_of.items() and ("base" in yes) == ("task_sha256" in yes), "an approval is for something else")

def compare(repo, p, r, commits, tree, signers):
    need(repo.read(on := r["base"]) is not None, "its base is not here")
    for name in commits:
        made, parents, _ = repo.commit(name)
        need(parents == [on], "it is on top of something else")
        on = name
    need(made == tree, "its tree is another one")
    text = repo.git("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-relative", "--ignore-submodules=none", r["base"], on)
    lines = text.split("\n")[:-1]
    need([r["touched"][k] for k in ("count", "sha256", "lines")] == [len(lines), sha256(text), lines[:500]], "it touches something else")
    need(p["policy"]["digest"] == {"sha256": r["policy"]["sha256"]} == {"sha256": sha256(r["policy"]["text"])}, "the policy's digest is another one")
    for a in r["approvals"]: approved(a, r, signers)

def verify(repo, commit, ref, signers):
    notes, why, runs = repo.notes(ref), "it has no attestation", repo.commit(commit)[2]
    if commit in notes:
        try:
            name, p, r, commits, tree = opened(repo.read(notes[commit], True), signers)
            if commit not in commits: return "changed", "the attestation is for " + commits[-1]
            compare(repo, p, r, commits, tree, signers)
            return "verified", "by " + name
        except MISSHAPEN as err: why = str(err)
    for blob in sorted(set(notes.values())) if runs else ():
        try:
            if parse(note := repo.read(blob, True))[1]["predicate"][FACTS]["run"] in runs and commit not in (commits := opened(note, signers)[3]):
                return "changed", "its run landed as " + commits[-1]
        except MISSHAPEN: pass
    return "not covered", why

def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in ("--repo", "."), ("--signers", os.devnull), ("--notes", "refs/notes/relay"), ("--cases", None): a.add_argument(option, default=default)
    a.add_argument("commits", nargs="*")
    o, code, repo = a.parse_args(), 0, None
    cases = [json.loads(line) for line in open(o.cases or os.devnull)] + [{"name": what, "commit": what, "notes": o.notes, "signers": o.signers, "expect": "verified"} for what in o.commits]
    for c in cases:
        try:
            signers = os.path.join(os.path.dirname(o.cases or ""), c["signers"])
            need(any(re.match(SIGNER, re.sub(rb"(?<=[\w+/]{8})\r", b"", row) + b"\n") for row in open(signers, "rb")), "no key is among the signers", Lost)
            repo = repo or Repo(o.repo)
            found = [(commit, *verify(repo, commit, c["notes"], signers)) for commit in repo.commits(c["commit"])]
        except (Lost, Bad, OSError) as err:
            found = [(None, "could not be looked at", str(err))]
        for commit, status, why in found:
            print(json.dumps({"name": c["name"], "commit": commit, "status": status, "why": why}))
            code = max(code, 0 if status == c["expect"] else 3 if status.startswith("could") else 2)
    sys.exit(code)

main()
