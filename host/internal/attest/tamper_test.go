package attest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// proofCase is one line of testdata/proof/cases.jsonl.
type proofCase struct {
	Name    string `json:"name"`
	Commit  string `json:"commit"`
	Notes   string `json:"notes"` // the ref
	Signers string `json:"signers"`
	Expect  Status `json:"expect"`
}

// corpus makes the cases: a stream for git fast-import with the history and the notes, and
// one line for each case. The same bytes come out every time.
type corpus struct {
	t       *testing.T
	git     *git.Repo
	stream  bytes.Buffer
	loaded  int // of stream
	marks   map[string]string
	files   map[string]string // signers
	cases   []proofCase
	clock   int
	trusted ed25519.PrivateKey
	facts   Facts
	odds    []string // further lines for the next commit
}

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func signerRow(name, options string, key ed25519.PrivateKey) string {
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		panic(err)
	}
	return strings.Join(strings.Fields(name+" "+options+" "+string(ssh.MarshalAuthorizedKey(public))), " ") + "\n"
}

func signWith(key ed25519.PrivateKey, message []byte) (sig []byte, print string) {
	if strings.HasPrefix(string(message), string(pae(approvalType, nil)[:len("DSSEv1 00 ")+len(approvalType)])) {
		return signAs(approvalNamespace, key, message)
	}
	return signAs(namespace, key, message)
}

func signAs(namespace string, key ed25519.PrivateKey, message []byte) (sig []byte, print string) {
	public := key.Public().(ed25519.PublicKey)
	return putTogether(namespace, public, ed25519.Sign(key, toSign(namespace, message))), fingerprint(public)
}

func newCorpus(t *testing.T, format string) *corpus {
	c := &corpus{t: t, marks: map[string]string{}, trusted: keyOf(1)}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--object-format="+format, "-b", "main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git, err := git.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	c.git = git
	_, c.facts = landedRepo(t, format)
	own := "namespaces=\"" + namespace + "\""
	c.files = map[string]string{
		"signers":           signerRow("relay", own, c.trusted),
		"signers-all":       signerRow("ada@example.org", "", c.trusted) + signerRow("bob", "", keyOf(2)),
		"signers-approver":  signerRow("relay", own, c.trusted) + signerRow("bob", `namespaces="relay-approval"`, keyOf(2)),
		"signers-others":    signerRow("bob", "", keyOf(2)),
		"signers-removed":   "# relay was here\n" + signerRow("bob", own, keyOf(3)),
		"signers-namespace": signerRow("relay", `namespaces="git"`, c.trusted),
		"signers-expired":   signerRow("relay", `valid-before="20261101Z"`, c.trusted),
		"signers-early":     signerRow("relay", `valid-after="20261201Z"`, c.trusted),
		"signers-authority": signerRow("relay", "cert-authority", c.trusted) + signerRow("bob", "", keyOf(2)),
	}
	c.signers()
	return c
}

// load gives git what the stream has so far.
func (c *corpus) load() {
	cmd := exec.Command("git", "-C", c.git.Root, "fast-import", "--quiet", "--force")
	cmd.Stdin = bytes.NewReader(c.stream.Bytes()[c.loaded:])
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("fast-import: %v: %s", err, out)
	}
	c.loaded = c.stream.Len()
}

// made makes a commit on a branch of its own; files is a list of path and content.
func (c *corpus) made(name, message string, parents []string, files ...string) string {
	c.clock++
	fmt.Fprintf(&c.stream, "commit refs/heads/%s\nauthor Ada <ada@example.org> %d +0000\ncommitter Ada <ada@example.org> %d +0000\ndata %d\n%s\n", name, 1795000000+c.clock, 1795000000+c.clock, len(message), message)
	for i, p := range parents {
		fmt.Fprintf(&c.stream, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(&c.stream, "M 100644 inline %s\ndata %d\n%s\n", files[i], len(files[i+1]), files[i+1])
	}
	for _, line := range c.odds {
		c.stream.WriteString(line + "\n")
	}
	c.odds = nil
	c.stream.WriteString("\ncheckpoint\n\n") // what follows names the commit, which fast-import has to know by then
	c.load()
	out, err := c.git.Run(context.Background(), nil, "rev-parse", "refs/heads/"+name)
	if err != nil {
		c.t.Fatal(err)
	}
	c.marks[name] = strings.TrimSpace(string(out))
	return c.marks[name]
}

// statement is the true one about a change that landed.
func (c *corpus) statement(run, base, head string) *Statement {
	found, err := landed(context.Background(), c.git, base, head)
	if err != nil {
		c.t.Fatal(err)
	}
	f := c.facts
	f.Run, f.Base, f.Commit = run, base, head
	return f.statement(found, "0.9.0", strings.Repeat("5", 64), c.git.ObjectFormat, t0)
}

// noteOf signs a statement.
func (c *corpus) noteOf(s *Statement, key ed25519.PrivateKey) string {
	payload := JSON(s)
	sig, print := signWith(key, pae(payloadType, payload))
	return render(s.Predicate.Relay.Summary, payload, sig, print)
}

// add is one case: notes on commits, a commit that is verified, and what has to come out.
func (c *corpus) add(name, commit, signers string, want Status, notes map[string]string) {
	ref := "refs/notes/cases/" + name
	fmt.Fprintf(&c.stream, "commit %s\ncommitter relay <relay@localhost> 1795000000 +0000\ndata 0\n", ref)
	for _, on := range slices.Sorted(maps.Keys(notes)) {
		fmt.Fprintf(&c.stream, "N inline %s\ndata %d\n%s\n", on, len(notes[on]), notes[on])
	}
	c.stream.WriteByte('\n')
	c.cases = append(c.cases, proofCase{name, commit, ref, signers, want})
}

// leaves calls fn for every value of a document, with its way, and a way to put another
// in its place.
func leaves(v any, way string, set func(any), fn func(way string, v any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			leaves(v[k], way+"."+k, func(x any) { v[k] = x }, fn)
		}
	case []any:
		for i := range v {
			leaves(v[i], fmt.Sprintf("%s.%d", way, i), func(x any) { v[i] = x }, fn)
		}
	default:
		fn(way, v, set)
	}
}

// ordered goes through a map in the order of its keys.
func ordered[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// other is a value of the same kind.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case nil:
		return "someone"
	default:
		return nil
	}
}

// fields changes each value of the statement, under the old signature.
func (c *corpus) fields(commit string, s *Statement) {
	payload := JSON(s)
	sig, print := signWith(c.trusted, pae(payloadType, payload))
	var doc any
	if err := json.Unmarshal(payload, &doc); err != nil {
		c.t.Fatal(err)
	}
	name := strings.NewReplacer("https://github.com/paxiom/relay/attestation/v1", "relay", "_", "-")
	leaves(doc, "", nil, func(way string, v any, set func(any)) {
		set(other(v))
		changed := JSON(doc)
		summary := s.Predicate.Relay.Summary
		if again := (&Statement{}); json.Unmarshal(changed, again) == nil {
			summary = again.Predicate.Relay.Summary
		}
		c.add("field"+name.Replace(way), commit, "signers", Nothing, map[string]string{commit: render(summary, changed, sig, print)})
		set(v)
	})
}

// bytesOf changes the note itself.
func (c *corpus) bytesOf(commit, good string) {
	at := strings.LastIndex(strings.TrimSuffix(good, "\n"), "\n\n") + 2
	head, last := good[:at], good[at:]
	var e envelope
	if err := json.Unmarshal([]byte(last), &e); err != nil {
		c.t.Fatal(err)
	}
	add := func(name, text string) {
		c.add("bytes-"+name, commit, "signers", Nothing, map[string]string{commit: text})
	}
	sig, _ := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	for at, part := range ordered(map[int]string{0: "magic", 9: "version", 13: "length", 21: "kind-of-key", 40: "key", 64: "key-end", 68: "namespace-length", 75: "namespace", 92: "reserved", 99: "hash",
		105: "signature-length", 110: "kind-of-signature", len(sig) - 64: "r", len(sig) - 33: "r-end", len(sig) - 32: "s", len(sig) - 1: "s-end"}) {
		bad := slices.Clone(sig)
		bad[at] ^= 1
		add("sig-"+part, head+strings.Replace(last, e.Signatures[0].Sig, base64.StdEncoding.EncodeToString(bad), 1))
	}
	order := []byte{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 31: 0x10}
	malleable, carry := slices.Clone(sig), 0
	for i, s := 0, malleable[len(sig)-32:]; i < 32; i++ {
		carry += int(s[i]) + int(order[i])
		s[i], carry = byte(carry), carry>>8
	}
	add("sig-other-spelling", head+strings.Replace(last, e.Signatures[0].Sig, base64.StdEncoding.EncodeToString(malleable), 1))
	for i := range 8 {
		at := strings.Index(last, `"payload":"`) + 11 + i*(len(e.Payload)-2)/8
		add(fmt.Sprintf("payload-%d", i), head+last[:at]+string(rune('A'+(last[at]-'A'+1)%26))+last[at+1:])
		add(fmt.Sprintf("cut-%d", i), good[:len(good)*(i+1)/9])
	}
	for name, text := range ordered(map[string]string{
		"empty": "", "line": "\n", "text": "reviewed, all fine\n", "binary": "\x00\xff\xfe\n\n{}\n", "only-json": last, "only-words": head, "bom": "\ufeff" + good, "crlf": strings.ReplaceAll(good, "\n", "\r\n"),
		"no-end": strings.TrimSuffix(good, "\n"), "one-more-line": good + "\n", "after": good + "x", "twice": good + good, "utf16": string(bytes.Join(bytes.Split([]byte(good), nil), []byte{0})),
		"word-changed": strings.Replace(good, "SUCCESS", "PERFECT", 1), "word-added": "approved by Ada\n" + good, "word-removed": strings.Join(strings.SplitAfter(good, "\n")[1:], ""),
		"blank": head + " " + last, "blank-inside": head + strings.Replace(last, `":`, `": `, 1), "tab": head + strings.Replace(last, `,"`, ",\t\"", 1),
		"key-case": head + strings.Replace(last, "payloadType", "PayloadType", 1), "key-twice": head + strings.Replace(last, `{"payloadType"`, `{"payloadType":"x","payloadType"`, 1),
		"key-more": head + strings.Replace(last, `{"payloadType"`, `{"x":1,"payloadType"`, 1), "escape": head + strings.Replace(last, "application", "\\u0061pplication", 1),
		"other-type": head + strings.Replace(last, "in-toto", "other", 1), "no-signature": head + last[:strings.Index(last, "[")+1] + "]}\n", "null-signature": head + last[:strings.Index(last, "[")] + "null}\n",
		"two-signatures": head + strings.Replace(last, "[", "["+string(JSON(e.Signatures[0]))+",", 1), "no-key-id": head + strings.Replace(last, e.Signatures[0].KeyID, "", 1),
		"other-key-id": head + strings.Replace(last, e.Signatures[0].KeyID, fingerprint(keyOf(2).Public().(ed25519.PublicKey)), 1), "sig-empty": head + strings.Replace(last, e.Signatures[0].Sig, "", 1),
		"sig-short": head + strings.Replace(last, e.Signatures[0].Sig, e.Signatures[0].Sig[:40], 1), "sig-line": head + strings.Replace(last, e.Signatures[0].Sig, e.Signatures[0].Sig[:64]+"\\n"+e.Signatures[0].Sig[64:], 1),
		"base64-url": head + strings.NewReplacer("+", "-", "/", "_").Replace(last), "base64-blank": head + strings.Replace(last, e.Payload, e.Payload[:8]+" "+e.Payload[8:], 1),
		"payload-empty": head + strings.Replace(last, e.Payload, "", 1), "payload-null": head + strings.Replace(last, e.Payload, "bnVsbA==", 1), "payload-list": head + strings.Replace(last, e.Payload, "W10=", 1),
		"payload-deep": head + strings.Replace(last, e.Payload, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("[", 20000))), 1),
		"list":         head + "[" + strings.TrimSpace(last) + "]\n", "number": head + "1\n", "nan": head + "NaN\n",
	}) {
		add(name, text)
	}
}

// lies are statements of a trusted key that are not about what is there.
func (c *corpus) lies(commit string, fresh func() *Statement) {
	other := strings.Repeat("a", 40)
	for name, change := range ordered(map[string]func(*Statement){
		"type": func(s *Statement) { s.Type = "https://in-toto.io/Statement/v0.1" }, "predicate-type": func(s *Statement) { s.PredicateType = "https://slsa.dev/provenance/v1" },
		"failed": func(s *Statement) { s.Predicate.VerificationResult = "FAILED" }, "code": func(s *Statement) { s.Predicate.Relay.Code = judge.StopForbidden },
		"tree": func(s *Statement) { s.Subject[1].Digest["gitTree"] = other }, "tree-of-commit": func(s *Statement) { s.Subject[1].Digest["gitTree"] = commit },
		"no-tree": func(s *Statement) { s.Subject = s.Subject[:1] }, "no-subject": func(s *Statement) { s.Subject = nil }, "two-trees": func(s *Statement) { s.Subject = append(s.Subject, s.Subject[1]) },
		"commit-as-tree": func(s *Statement) { s.Subject[1].Digest = map[string]string{"gitCommit": commit} }, "two-digests": func(s *Statement) { s.Subject[0].Digest["sha256"] = other },
		"subject-name": func(s *Statement) { s.Subject[0].Name = "file" }, "commit-twice": func(s *Statement) { s.Subject = append([]Subject{s.Subject[0]}, s.Subject...) },
		"more-commits": func(s *Statement) {
			s.Subject = append([]Subject{{"commit", map[string]string{"gitCommit": c.marks["base"]}}}, s.Subject...)
		},
		"missing-commit": func(s *Statement) {
			s.Subject = append([]Subject{{"commit", map[string]string{"gitCommit": other}}}, s.Subject...)
		},
		"base": func(s *Statement) { s.Predicate.Relay.Base = c.marks["root"] }, "base-missing": func(s *Statement) { s.Predicate.Relay.Base = other },
		"base-option": func(s *Statement) { s.Predicate.Relay.Base = "--output=x" }, "base-name": func(s *Statement) { s.Predicate.Relay.Base = "base" },
		"touched-less": func(s *Statement) { s.Predicate.Relay.Touched = touchedOf(s.Predicate.Relay.Touched.Lines[1:]) }, "touched-none": func(s *Statement) { s.Predicate.Relay.Touched = touchedOf(nil) },
		"touched-count": func(s *Statement) { s.Predicate.Relay.Touched.Count++ }, "touched-digest": func(s *Statement) { s.Predicate.Relay.Touched.SHA256 = sum(nil) },
		"touched-blob": func(s *Statement) {
			l := s.Predicate.Relay.Touched.Lines
			l[0] = strings.Replace(l[0], "100644", "100755", 1)
		},
		"verifier": func(s *Statement) { s.Predicate.Verifier.ID += "2" }, "levels": func(s *Statement) {
			s.Predicate.VerifiedLevels = append(s.Predicate.VerifiedLevels, "SLSA_SOURCE_LEVEL_4")
		},
		"resource": func(s *Statement) { s.Predicate.ResourceURI = "gitoid:commit:sha1:" + other }, "policy-uri": func(s *Statement) { s.Predicate.Policy.URI = "https://example.org/ours" },
		"policy-text": func(s *Statement) {
			s.Predicate.Relay.Policy.Text = strings.Replace(s.Predicate.Relay.Policy.Text, "**", "src/**", 1)
		},
		"policy-digest": func(s *Statement) { s.Predicate.Relay.Policy.SHA256 = sum(nil) }, "summary-digest": func(s *Statement) { s.Predicate.Policy.Digest["sha256"] = sum(nil) },
		"approval-task": func(s *Statement) { s.Predicate.Relay.Approvals[0].Task = sum(nil) }, "approval-at": func(s *Statement) { s.Predicate.Relay.Approvals[0].At = "yesterday" }, "approval-base": func(s *Statement) { s.Predicate.Relay.Approvals[0].Base = c.marks["root"] },
		"time": func(s *Statement) { s.Predicate.TimeVerified = "yesterday" }, "time-epoch": func(s *Statement) { s.Predicate.TimeVerified = "1970-01-01T00:00:00Z" }, "time-none": func(s *Statement) { s.Predicate.TimeVerified = "" },
	}) {
		s := fresh()
		change(s)
		c.add("lie-"+name, commit, "signers", Nothing, map[string]string{commit: c.noteOf(s, c.trusted)})
	}
}

// yes is an approval that a key has signed.
func yes(kind string, a Approved, key ed25519.PrivateKey) Approval {
	payload := JSON(a)
	sig, print := signWith(key, pae(kind, payload))
	sealed := JSON(envelope{kind, base64.StdEncoding.EncodeToString(payload), []signature{{print, base64.StdEncoding.EncodeToString(sig)}}})
	return Approval{Kind: a.Kind, At: a.At, Key: &print, Signed: string(sealed)}
}

// approvals are statements of a trusted key with an approval that somebody has signed.
func (c *corpus) approvals(commit string, fresh func() *Statement) {
	is := fresh().Predicate.Relay
	bob, at, none, ada := keyOf(2), t0.Format(Time), sum(nil), fingerprint(c.trusted.Public().(ed25519.PublicKey))
	touched := Approved{Kind: "policy", At: at, Touched: is.Touched.SHA256}
	good := yes(approvalType, touched, bob)
	with := func(name, signers string, want Status, a Approval, change func(*Approval)) {
		s := fresh()
		a.Task, a.Base = is.Task.SHA256, is.Base
		if change != nil {
			change(&a)
		}
		s.Predicate.Relay.Approvals = append(s.Predicate.Relay.Approvals, a)
		c.add(name, commit, signers, want, map[string]string{commit: c.noteOf(s, c.trusted)})
	}
	with("good-approval", "signers-all", Verified, good, nil)
	with("good-approval-alone", "signers-approver", Verified, good, nil)
	c.add("key-approver-attests", commit, "signers-approver", Nothing, map[string]string{commit: c.noteOf(fresh(), bob)})
	var e envelope
	_ = json.Unmarshal([]byte(good.Signed), &e)
	sig, _ := signAs(namespace, bob, pae(approvalType, JSON(touched)))
	e.Signatures[0].Sig = base64.StdEncoding.EncodeToString(sig)
	with("lie-approval-of-namespace", "signers-all", Nothing, good, func(a *Approval) { a.Signed = string(JSON(e)) })
	with("good-approval-plan", "signers-all", Verified, yes(approvalType, Approved{Kind: "plan", At: at, Base: is.Base, Task: is.Task.SHA256}, bob), nil)
	with("key-approver-unknown", "signers", Nothing, good, nil)
	for name, a := range ordered(map[string]Approval{
		"touched": yes(approvalType, Approved{Kind: "policy", At: at, Touched: none}, bob), "task": yes(approvalType, Approved{Kind: "policy", At: at, Task: none}, bob),
		"one-of-two": yes(approvalType, Approved{Kind: "policy", At: at, Task: none, Touched: is.Touched.SHA256}, bob), "nothing": yes(approvalType, Approved{Kind: "policy", At: at}, bob),
		"no-base": yes(approvalType, Approved{Kind: "plan", At: at, Task: is.Task.SHA256}, bob), "base-alone": yes(approvalType, Approved{Kind: "plan", At: at, Base: is.Base}, bob),
		"other-base": yes(approvalType, Approved{Kind: "plan", At: at, Base: commit, Task: is.Task.SHA256}, bob),
		"early":      yes(approvalType, Approved{Kind: "policy", At: "1969-12-31T23:59:59Z", Touched: is.Touched.SHA256}, bob), "time": yes(approvalType, Approved{Kind: "policy", At: "then", Touched: is.Touched.SHA256}, bob), "as-statement": yes(payloadType, touched, bob), "as-result": yes("application/vnd.relay.result+json", touched, bob),
	}) {
		with("lie-approval-of-"+name, "signers-all", Nothing, a, nil)
	}
	for name, more := range ordered(map[string]string{"empty": `"base":"","task_sha256":""`, "null": `"base":null,"task_sha256":null`, "more": `"later":1`, "no-kind": `"kind":""`}) {
		payload := strings.Replace(string(JSON(touched)), "}", ","+more+"}", 1)
		if name == "no-kind" {
			payload = strings.Replace(string(JSON(touched)), `"kind":"policy"`, `"kind":""`, 1)
		}
		a := yes(approvalType, touched, bob)
		sig, print := signWith(bob, pae(approvalType, []byte(payload)))
		a.Signed = string(JSON(envelope{approvalType, base64.StdEncoding.EncodeToString([]byte(payload)), []signature{{print, base64.StdEncoding.EncodeToString(sig)}}}))
		if name == "no-kind" {
			a.Kind = ""
		}
		with("lie-approval-with-"+name, "signers-all", Nothing, a, nil)
	}
	for name, change := range ordered(map[string]func(*Approval){
		"kind": func(a *Approval) { a.Kind = "plan" }, "at": func(a *Approval) { a.At = t0.Add(time.Hour).Format(Time) }, "key": func(a *Approval) { a.Key = &ada }, "no-key": func(a *Approval) { a.Key = nil },
		"not-signed": func(a *Approval) { a.Signed = "" }, "cut": func(a *Approval) { a.Signed = a.Signed[:len(a.Signed)/2] }, "blank": func(a *Approval) { a.Signed += " " }, "null": func(a *Approval) { a.Signed = "null" },
		"number": func(a *Approval) { a.Signed = "1" }, "key-id": func(a *Approval) { a.Signed = strings.Replace(a.Signed, *a.Key, ada, 1) }, "unsigned": func(a *Approval) {
			a.Signed = `{"payloadType":"` + approvalType + `","payload":"e30=","signatures":[]}`
		},
		"other-signature": func(a *Approval) {
			a.Signed = strings.Replace(a.Signed, a.Signed[strings.Index(a.Signed, `"sig"`):], yes(approvalType, Approved{Kind: "x"}, bob).Signed[strings.Index(yes(approvalType, Approved{Kind: "x"}, bob).Signed, `"sig"`):], 1)
		},
	}) {
		with("lie-approval-told-"+name, "signers-all", Nothing, good, change)
	}
}

func build(t *testing.T) *corpus {
	c := newCorpus(t, "sha1")
	root := c.made("root", "root\n", nil, "src/a.txt", "zero\n")
	base := c.made("base", "base\n", []string{root}, "src/a.txt", "one\n")
	one := c.made("one", "relay: one\n\nRelay-Run: run-one\n", []string{base}, "src/a.txt", "two\n", "src/b c.txt", "new\n")
	two := c.made("two", "relay: two\n\nRelay-Run: run-two\n", []string{one}, "src/c.txt", "c\n")
	first := c.made("chain-1", "first\n\nRelay-Run: run-chain\n", []string{two}, "src/d.txt", "d\n")
	last := c.made("chain-2", "second\n\nRelay-Run: run-chain\n", []string{first}, "src/e.txt", "e\n")
	side := c.made("side", "a person\n", []string{base}, "README", "hi\n")
	onto := c.made("onto", "relay: two\n\nRelay-Run: run-two\n", []string{side}, "src/c.txt", "c\n")
	sOne, sTwo, sChain := c.statement("run-one", base, one), c.statement("run-two", one, two), c.statement("run-chain", two, last)
	n1, n2, n3 := c.noteOf(sOne, c.trusted), c.noteOf(sTwo, c.trusted), c.noteOf(sChain, c.trusted)
	all := map[string]string{one: n1, two: n2, first: n3, last: n3}
	for name, commit := range ordered(map[string]string{"one": one, "two": two, "chain-first": first, "chain-last": last}) {
		c.add("good-"+name, commit, "signers", Verified, all)
	}
	c.add("good-signers-all", one, "signers-all", Verified, all)
	c.add("good-other-signer", one, "signers-others", Verified, map[string]string{one: c.noteOf(sOne, keyOf(2))})
	c.fields(one, sOne)
	c.bytesOf(one, n1)
	c.lies(one, func() *Statement { return c.statement("run-one", base, one) })
	c.approvals(one, func() *Statement { return c.statement("run-one", base, one) })
	for _, file := range []string{"others", "removed", "namespace", "expired", "early", "authority"} {
		c.add("key-"+file, one, "signers-"+file, Nothing, all)
	}
	for name, want := range ordered(signersOf) {
		c.add("signers-"+name, one, "signers-"+name, want, all)
	}
	c.add("key-unknown", one, "signers", Nothing, map[string]string{one: c.noteOf(sOne, keyOf(4))})
	payload := JSON(sOne)
	raw := ed25519.Sign(c.trusted, pae(payloadType, payload))
	mine := c.trusted.Public().(ed25519.PublicKey)
	c.add("key-not-sshsig", one, "signers", Nothing, map[string]string{one: render(sOne.Predicate.Relay.Summary, payload, putTogether(namespace, mine, raw), fingerprint(mine))})
	sig, print := signWith(c.trusted, payload)
	c.add("key-no-pae", one, "signers", Nothing, map[string]string{one: render(sOne.Predicate.Relay.Summary, payload, sig, print)})
	stolen, _ := signWith(keyOf(4), pae(payloadType, payload))
	_, plain, _ := takeApart(namespace, stolen)
	c.add("key-swapped", one, "signers", Nothing, map[string]string{one: render(sOne.Predicate.Relay.Summary, payload, putTogether(namespace, mine, plain), fingerprint(mine))})
	c.history(map[string]string{"root": root, "base": base, "one": one, "two": two, "first": first, "last": last, "side": side, "onto": onto}, all)
	c.odd(sOne, all)
	c.load()
	return c
}

// history is what people do to commits that have landed.
func (c *corpus) history(at, all map[string]string) {
	one, two, first, last, base := at["one"], at["two"], at["first"], at["last"], at["base"]
	message := "relay: one\n\nRelay-Run: run-one\n"
	files := []string{"src/a.txt", "two\n", "src/b c.txt", "new\n"}
	for name, h := range ordered(map[string]struct {
		commit string
		want   Status
	}{
		"amend-date":        {c.made("amend-date", message, []string{base}, files...), Changed},
		"amend-words":       {c.made("amend-words", "fix: one\n\nRelay-Run: run-one\n", []string{base}, files...), Changed},
		"amend-content":     {c.made("amend-content", message, []string{base}, "src/a.txt", "evil\n"), Changed},
		"amend-more":        {c.made("amend-more", message, []string{base}, append(files, "src/evil", "x\n")...), Changed},
		"amend-to-nothing":  {c.made("amend-to-nothing", message, []string{base}), Changed},
		"no-trailer":        {c.made("no-trailer", "one\n", []string{base}, files...), Nothing},
		"other-trailer":     {c.made("other-trailer", "one\n\nRelay-Run: run-none\n", []string{base}, files...), Nothing},
		"trailer-of-two":    {c.made("trailer-of-two", "one\n\nRelay-Run: run-two\n", []string{base}, files...), Changed},
		"rebase":            {at["onto"], Changed},
		"rebase-root":       {c.made("rebase-root", message, []string{at["root"]}, files...), Changed},
		"orphan":            {c.made("orphan", message, nil, files...), Changed},
		"cherry-pick":       {c.made("cherry-pick", message+"(cherry picked from commit "+one+")\n", []string{at["side"]}, files...), Changed},
		"squash":            {c.made("squash", "squashed\n\n    relay: one\n    \n    Relay-Run: run-one\n\n    Relay-Run: run-two\n", []string{base}, append(files, "src/c.txt", "c\n")...), Changed},
		"squash-quiet":      {c.made("squash-quiet", "squashed\n", []string{base}, append(files, "src/c.txt", "c\n")...), Nothing},
		"merge":             {c.made("merge", "Merge branch side\n", []string{two, at["side"]}), Nothing},
		"merge-with-run":    {c.made("merge-with-run", "Merge\n\nRelay-Run: run-two\n", []string{two, at["side"]}), Changed},
		"merge-as-one":      {c.made("merge-as-one", message, []string{base, at["side"]}, files...), Changed},
		"revert":            {c.made("revert", "Revert \"relay: two\"\n\nThis reverts commit "+two+".\n", []string{two}), Nothing},
		"chain-second-only": {c.made("chain-second-only", "second\n\nRelay-Run: run-chain\n", []string{two}, "src/e.txt", "e\n"), Changed},
		"chain-more":        {c.made("chain-more", "third\n\nRelay-Run: run-chain\n", []string{last}, "src/f.txt", "f\n"), Changed},
		"a-person":          {at["side"], Nothing},
	}) {
		c.add("history-"+name, h.commit, "signers", h.want, all)
		copied := maps.Clone(all) // as notes.rewriteRef does
		copied[h.commit] = all[one]
		c.add("copied-"+name, h.commit, "signers", Changed, copied)
		moved := map[string]string{h.commit: all[two]}
		c.add("moved-"+name, h.commit, "signers", Changed, moved)
	}
	c.add("replay-two-on-one", one, "signers", Changed, map[string]string{one: all[two]})
	c.add("replay-chain-on-two", two, "signers", Changed, map[string]string{two: all[last]})
	c.add("replay-one-on-base", base, "signers", Changed, map[string]string{base: all[one]})
	c.add("removed-note", one, "signers", Nothing, map[string]string{two: all[two]})
	c.add("removed-all", first, "signers", Nothing, map[string]string{base: "hi\n"})
	c.add("bad-note-good-elsewhere", one, "signers", Nothing, map[string]string{one: "hi\n", at["side"]: all[one]})
}

const proof = "../../../testdata/proof"

// The files of the corpus are those that this test makes; go test -update writes them.
func TestCorpus(t *testing.T) {
	sampling.Slow(t)
	c := build(t)
	if len(c.cases) < 200 {
		t.Errorf("%d cases", len(c.cases))
	}
	slices.SortFunc(c.cases, func(a, b proofCase) int { return strings.Compare(a.Name, b.Name) })
	var lines bytes.Buffer
	for _, x := range c.cases {
		lines.Write(append(JSON(x), '\n'))
	}
	files := maps.Clone(c.files)
	files["corpus.fi"], files["cases.jsonl"] = c.stream.String(), lines.String()
	for name, want := range files {
		path := filepath.Join(proof, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the test makes (%v): go test ./host/internal/attest -run TestCorpus -update", path, err)
		}
	}
	if py, err := os.ReadFile(filepath.Join(proof, "verify.py")); err != nil || bytes.Count(py, []byte("\n")) > 200 {
		t.Errorf("verify.py has more lines than one reads in a sitting: 200 (%v)", err)
	}
	// The machine's time zone counts for no answer.
	t.Setenv("TZ", "JST-9")
	defer func(here *time.Location) { time.Local = here }(time.Local)
	time.Local = time.FixedZone("JST", 9*60*60)
	second := make(chan []byte, 1)
	go func() { second <- c.ask() }()
	seen := map[string]Status{}
	begin := time.Now()
	for _, x := range c.cases {
		found := asked(c.git, c.files[x.Signers], x.Notes, x.Commit)
		if seen[x.Name] = found[0].Status; found[0].Status != x.Expect {
			t.Errorf("%s: %s (%s), not %s", x.Name, found[0].Status, found[0].Why, x.Expect)
		}
	}
	t.Logf("%d cases, %v each", len(c.cases), time.Since(begin)/time.Duration(len(c.cases)))
	c.agree(seen, <-second)
}

// ask has the verifier that shares no code with relay answer, nil where it can't run.
func (c *corpus) ask() []byte {
	for _, name := range []string{"python3", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil {
			c.t.Logf("the second verifier was not asked: there is no %s", name)
			return nil
		}
	}
	dir := c.t.TempDir() // as the README says
	cmd := exec.Command("sh", "-c", `git init -q "$0" && git -C "$0" fast-import --quiet <corpus.fi && python3 verify.py --repo "$0" --cases cases.jsonl`, dir)
	cmd.Dir = proof
	out, err := cmd.Output()
	if err != nil {
		c.t.Errorf("verify.py: %v", err)
	}
	return out
}

// agree holds its answers against relay's.
func (c *corpus) agree(seen map[string]Status, out []byte) {
	n := 0
	for line := range strings.Lines(string(out)) {
		var a struct {
			Name, Why string
			Status    Status
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			c.t.Fatal(err)
		}
		if n++; a.Status != seen[a.Name] {
			c.t.Errorf("%s: relay says %s, verify.py %s (%s)", a.Name, seen[a.Name], a.Status, a.Why)
		}
	}
	if out != nil && n != len(c.cases) {
		c.t.Errorf("verify.py answered %d of %d cases", n, len(c.cases))
	}
}
