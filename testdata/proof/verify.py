#!/usr/bin/env python3
"""Verifies relay's attestations without relay: Python, git and ssh-keygen (OpenSSH 9.1 or later).

  verify.py --signers FILE [--repo DIR] [--notes REF] COMMIT...
  verify.py [--repo DIR] --cases cases.jsonl        the corpus beside this file

Prints for each commit: verified, changed or not covered, and why. It shares no code with relay and was
written from schemas/attestation.schema.json and docs/guides/proof.md.
"""
import argparse, base64, hashlib, json, os, re, subprocess, sys, tempfile

FACTS = "https://github.com/paxiom/relay/attestation/v1"
NAMESPACE = "relay-attestation"
PAYLOAD = "application/vnd.in-toto+json"
APPROVAL = "application/vnd.relay.approval+json"

class Bad(Exception):
    pass

def need(ok, why):
    if not ok:
        raise Bad(why)

def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()

def string(b):
    return len(b).to_bytes(4, "big") + b

def unique(pairs):
    need(len({k for k, _ in pairs}) == len(pairs), "a key is there twice")
    return dict(pairs)

class Repo:
    def __init__(self, path):
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.env.update(GIT_NO_REPLACE_OBJECTS="1", GIT_NO_LAZY_FETCH="1", LC_ALL="C")
        self.base = ["git", "-C", path, "-c", "core.quotePath=true", "-c", "protocol.allow=never"]
        self.hash = self.git("rev-parse", "--show-object-format").strip()
        self.cat = subprocess.Popen(self.base + ["cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        self.diffs = {}

    def git(self, *args):
        r = subprocess.run(self.base + list(args), capture_output=True, env=self.env)
        need(r.returncode == 0, "git: " + r.stderr.decode(errors="replace").strip())
        return r.stdout.decode(errors="surrogateescape")

    def read(self, name):
        """An object whose name was computed again; None when it is not there."""
        need(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", name), "not the name of an object")
        self.cat.stdin.write(name.encode() + b"\n")
        self.cat.stdin.flush()
        head = self.cat.stdout.readline().decode().split()
        if len(head) != 3:
            return None
        body = self.cat.stdout.read(int(head[2]) + 1)[:-1]
        need(hashlib.new(self.hash, f"{head[1]} {len(body)}\0".encode() + body).hexdigest() == name, "a damaged object")
        return body

    def commit(self, name):
        body = self.read(name)
        need(body is not None, "a commit is not here")
        head, _, message = body.decode(errors="replace").partition("\n\n")
        fields = [line.split(" ", 1) for line in head.split("\n") if " " in line]
        runs = []
        for line in message.split("\n"):
            found = re.match(r"Relay-(?:Run|Step): (.*)", line.strip())
            if found and found[1] not in runs:
                runs.append(found[1])
        return [v for k, v in fields if k == "tree"][-1], [v for k, v in fields if k == "parent"], runs

    def notes(self, ref):
        if not self.git("for-each-ref", ref).strip():
            return {}
        rows = [row.split("\t", 1) for row in self.git("ls-tree", "-r", "-z", "--full-tree", ref).split("\0") if row]
        return {path.replace("/", ""): meta.split()[2] for meta, path in rows if meta.split()[1] == "blob"}

    def touched(self, base, head):
        if (base, head) not in self.diffs:
            out = self.git("diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-relative", "--ignore-submodules=none", base, head)
            self.diffs[base, head] = out.split("\n")[:-1]
        return self.diffs[base, head]

def envelope(text, kind):
    """The payload, the signature and its key of an envelope, which has one form only."""
    e = json.loads(text, object_pairs_hook=unique)
    payload, sig, key_id, signatures = base64.b64decode(e["payload"]), None, None, ""
    need(e["payloadType"] == kind and len(e["signatures"]) <= 1, "another envelope")
    if e["signatures"]:
        key_id, sig = e["signatures"][0]["keyid"], base64.b64decode(e["signatures"][0]["sig"])
        blob = string(b"ssh-ed25519") + string(sig[33:65])
        need(sig == b"SSHSIG" + (1).to_bytes(4, "big") + string(blob) + string(NAMESPACE.encode()) + string(b"") + string(b"sha512")
             + string(string(b"ssh-ed25519") + string(sig[-64:])), "another kind of signature")
        need(int.from_bytes(sig[-32:], "little") < 2**252 + 27742317777372353535851937790883648493, "another spelling of the signature")
        need(key_id == "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("="), "another key is named")
        signatures = '{"keyid":"%s","sig":"%s"}' % (key_id, base64.b64encode(sig).decode())
    need(text == '{"payloadType":"%s","payload":"%s","signatures":[%s]}' % (kind, base64.b64encode(payload).decode(), signatures), "another spelling of the envelope")
    return payload, sig, key_id

def parse(note):
    """The payload, the statement and the signature of a note, which has one form only."""
    try:
        text = note.decode()
        head, _, last = text.removesuffix("\n").rpartition("\n\n")
        payload, sig, _ = envelope(last, PAYLOAD)
        statement = json.loads(payload, object_pairs_hook=unique)
        need("\n".join(statement["predicate"][FACTS]["summary"]) + "\n\n" + last + "\n" == text, "the note does not say what its statement says")
        return payload, statement, sig
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as err:
        raise Bad(f"the note can't be read: {err}") from None

def signer(payload, sig, when, signers, kind=PAYLOAD):
    """The name of the signer, as ssh-keygen finds it."""
    need(sig is not None, "it is not signed")
    need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", when), "it has no time")
    at = "-Overify-time=" + re.sub("[-:T]", "", when)
    pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    with tempfile.NamedTemporaryFile("w", suffix=".sig") as f:
        f.write("-----BEGIN SSH SIGNATURE-----\n" + base64.encodebytes(sig).decode() + "-----END SSH SIGNATURE-----\n")
        f.flush()
        who = subprocess.run(["ssh-keygen", "-Y", "find-principals", "-s", f.name, "-f", signers, at], capture_output=True, text=True)
        for name in who.stdout.splitlines():
            if subprocess.run(["ssh-keygen", "-Y", "verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", f.name, at], input=pae, capture_output=True).returncode == 0:
                return name
    raise Bad("nobody who is believed has signed it")

def opened(note, signers):
    """What a signer says: the facts, and the commits and the tree that they are about."""
    payload, s, sig = parse(note)
    try:
        p = s["predicate"]
        name = signer(payload, sig, p["timeVerified"], signers)
        r = p[FACTS]
        need(s["_type"] == "https://in-toto.io/Statement/v1" and s["predicateType"] == "https://slsa.dev/verification_summary/v1", "another statement")
        need(p["verificationResult"] == "PASSED" and r["code"] == "SUCCESS", "it did not pass")
        commits, tree = [], s["subject"][-1]
        for sub in s["subject"][:-1]:
            need(sub["name"] == "commit" and list(sub["digest"]) == ["gitCommit"], "another subject")
            commits.append(sub["digest"]["gitCommit"])
        need(commits and tree["name"] == "tree" and list(tree["digest"]) == ["gitTree"], "another subject")
        return name, p, r, commits, tree["digest"]["gitTree"]
    except (KeyError, TypeError, IndexError, AttributeError) as err:
        raise Bad(f"the statement lacks {err}") from None

def approved(a, r, signers):
    """Checks who gave an approval; nobody says so where it has no key."""
    need(a["task_sha256"] == r["task"]["sha256"] and a["base"] == r["base"], "an approval is for something else")
    if a["key"] is None and not a.get("signed"):
        return
    payload, sig, key_id = envelope(a["signed"], APPROVAL)
    yes = json.loads(payload, object_pairs_hook=unique)
    need(set(yes) <= {"kind", "at", "task_sha256", "touched_sha256"}, "another approval")
    signer(payload, sig, yes["at"], signers, APPROVAL)
    told, is_of = (yes.get("task_sha256") or "", yes.get("touched_sha256") or ""), (r["task"]["sha256"], r["touched"]["sha256"])
    need(any(told) and all(not x or x == y for x, y in zip(told, is_of)), "an approval is for something else")
    need((yes["kind"], yes["at"], key_id) == (a["kind"], a["at"], a["key"]), "an approval is not what its key has signed")

def compare(repo, p, r, commits, tree, signers):
    need(repo.read(r["base"]) is not None, "its base is not here")
    on = r["base"]
    for name in commits:
        made, parents, _ = repo.commit(name)
        need(parents == [on], "it is on top of something else")
        on = name
    need(made == tree, "its tree is another one")
    lines = repo.touched(r["base"], on)
    need(r["touched"] == {"count": len(lines), "sha256": sha256("".join(x + "\n" for x in lines)), "lines": lines[:500]}, "it touches something else")
    need(p["policy"]["digest"] == {"sha256": r["policy"]["sha256"]} and sha256(r["policy"]["text"]) == r["policy"]["sha256"], "the policy's digest is another one")
    for a in r["approvals"]:
        approved(a, r, signers)

def verify(repo, commit, ref, signers):
    notes, why = repo.notes(ref), "it has no attestation"
    if commit in notes:
        try:
            name, p, r, commits, tree = opened(repo.read(notes[commit]), signers)
            if commit not in commits:
                return "changed", "the attestation is for " + commits[-1]
            compare(repo, p, r, commits, tree, signers)
            return "verified", "by " + name
        except (Bad, KeyError, TypeError, ValueError, AttributeError) as err:
            why = str(err)
    for run in repo.commit(commit)[2]:
        for blob in sorted(set(notes.values())):
            try:
                note = repo.read(blob)
                if parse(note)[1]["predicate"][FACTS].get("run") == run:
                    commits = opened(note, signers)[3]
                    if commit not in commits:
                        return "changed", f"run {run} landed as {commits[-1]}"
            except Bad:
                pass
    return "not covered", why

def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--repo", default=".")
    a.add_argument("--signers")
    a.add_argument("--notes", default="refs/notes/relay")
    a.add_argument("--cases")
    a.add_argument("commits", nargs="*")
    o = a.parse_args()
    repo, bad = Repo(o.repo), 0
    if o.cases:
        for line in open(o.cases):
            c = json.loads(line)
            status, why = verify(repo, c["commit"], c["notes"], os.path.join(os.path.dirname(o.cases), c["signers"]))
            bad += status != c["expect"]
            print(json.dumps({"name": c["name"], "status": status, "why": why}))
    for name in o.commits:
        status, why = verify(repo, repo.git("rev-parse", "--verify", name + "^{commit}").strip(), o.notes, o.signers)
        bad += status != "verified"
        print(name, status + ":", why)
    sys.exit(2 if bad else 0)

main()
