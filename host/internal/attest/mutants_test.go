package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	mutants = flag.Int("mutants", 0, "how many mutants both verifiers answer about; 0: a sample")
	seed    = flag.Uint64("seed", 0, "of the mutants; 0: the same ones every time")
)

// oddJSON are texts that stand in the place of a value.
var oddJSON = []string{"null", "true", "0", "1", "-0", "2.0", "1e2", "1E400", "1e401", "-1", "9223372036854775808", "NaN", "Infinity", strings.Repeat("9", 70), `""`, `"x"`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`,
	`"\ud83d\ude00"`, `"é\u202e"`, `"a\nb"`, `"<&>"`, `"` + strings.Repeat("0", 64) + `"`, `"` + strings.Repeat("a", 40) + `"`, `"2026-02-30T00:00:00Z"`, `"2026-11-23T23:59:60Z"`, `"1969-12-31T23:59:59Z"`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`,
	`"٢026-11-23T05:00:00Z"`, "[]", "{}", "[null]", `{"a":1,"A":2}`, `{"a":1,"a":2}`, strings.Repeat("[", 33) + strings.Repeat("]", 33), strings.Repeat("[", 20) + strings.Repeat("]", 20), `{"sha256":""}`, `"SUCCESS"`, `[["x"]]`, "\"\xff\"", "\"\t\"", "'x'"}

type mutator struct {
	*rand.Rand
	c *corpus
}

func one[T any](m *mutator, of []T) T { return of[m.IntN(len(of))] }

// bytes changes some bytes of a text.
func (m *mutator) bytes(s string) string {
	b := []byte(s)
	for range 1 + m.IntN(2) {
		at := m.IntN(len(b))
		switch m.IntN(6) {
		case 0:
			b[at] = byte(m.IntN(256))
		case 1:
			b[at] ^= 1 << m.IntN(8)
		case 2:
			b = append(b[:at], b[at+1:]...)
		case 3:
			b = append(b[:at], append([]byte(one(m, []string{"\n", " ", "\r", "\x00", "\t", "\"", "{", "}", ",", "\\", "\ufeff", "\u00a0", "\x80", "0", "\x1c", "\u2028"})), b[at:]...)...)
		case 4:
			end := min(at+1+m.IntN(20), len(b))
			b = append(b[:end:end], append(bytes.Clone(b[at:end]), b[end:]...)...)
		default:
			b = b[:max(at, 1)]
		}
		if len(b) == 0 {
			return " "
		}
	}
	return string(b)
}

// json changes a value or a key somewhere in a JSON text.
func (m *mutator) json(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		m.c.t.Fatal(err)
	}
	type place struct {
		in  map[string]any
		key string
		of  []any
		at  int
	}
	var all []place
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k := range ordered(v) {
				all = append(all, place{in: v, key: k})
				walk(v[k])
			}
		case []any:
			for i := range v {
				all = append(all, place{of: v, at: i})
				walk(v[i])
			}
		}
	}
	walk(v)
	const mark = "@@"
	p, raw := one(m, all), one(m, oddJSON)
	switch how := m.IntN(8); {
	case p.in == nil:
		p.of[p.at] = mark
	case how == 0:
		delete(p.in, p.key)
	case how == 1:
		p.in[strings.ToUpper(p.key)] = p.in[p.key]
	case how == 2:
		p.in[strings.ToUpper(p.key)] = p.in[p.key]
		delete(p.in, p.key)
	case how == 3:
		p.in["later"] = mark
	case how == 4:
		p.in[strings.Replace(p.key, "s", "ſ", 1)] = mark
	case how == 5:
		if deeper, ok := p.in[p.key].(map[string]any); ok {
			deeper["later"] = mark
		} else {
			p.in[p.key] = mark
		}
	default:
		p.in[p.key] = mark
	}
	return strings.Replace(string(JSON(v)), `"`+mark+`"`, raw, 1)
}

// sealed is an envelope around a payload, signed.
func (m *mutator) sealed(kind, payload string, key byte) string {
	sig, print := signWith(keyOf(key), pae(kind, []byte(payload)))
	return string(JSON(envelope{kind, base64.StdEncoding.EncodeToString([]byte(payload)), []signature{{print, base64.StdEncoding.EncodeToString(sig)}}}))
}

// note is a note of a trusted key about a payload, whatever that is.
func (m *mutator) note(payload string, words []string) string {
	var s struct {
		Predicate struct {
			R struct{ Summary []string } `json:"https://github.com/paxiom/relay/attestation/v1"`
		}
	}
	if json.Unmarshal([]byte(payload), &s) == nil {
		words = s.Predicate.R.Summary
	}
	return strings.Join(words, "\n") + "\n\n" + m.sealed(payloadType, payload, 1) + "\n"
}

// commit writes a commit whose text nobody checks.
func (m *mutator) commit(text string) string {
	cmd := exec.Command("git", "-C", m.c.git.Root, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		m.c.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Both verifiers say the same of what nobody thought of: go test -mutants 20000 -seed 7.
func TestMutants(t *testing.T) {
	c := newCorpus(t, "sha1")
	root := c.made("root", "root\n", nil, "src/a.txt", "zero\n")
	base := c.made("base", "base\n", []string{root}, "src/a.txt", "one\n")
	first := c.made("one", "relay: one\n\nRelay-Run: run-one\n", []string{base}, "src/a.txt", "two\n", "src/b c.txt", "new\n")
	m := &mutator{rand.New(rand.NewPCG(*seed, 0)), c}
	body, err := c.git.Run(t.Context(), nil, "cat-file", "commit", first)
	if err != nil {
		t.Fatal(err)
	}
	good := c.statement("run-one", base, first)
	words := good.Predicate.Relay.Summary
	yes := yes(approvalType, Approved{Kind: "plan", At: t0.Format(Time), Base: base, Task: good.Predicate.Relay.Task.SHA256}, keyOf(2))
	yes.Task, yes.Base = good.Predicate.Relay.Task.SHA256, base
	good.Predicate.Relay.Approvals = append(good.Predicate.Relay.Approvals, yes)
	text := string(JSON(good))
	note := m.note(text, words)
	n := *mutants
	if n == 0 {
		n = 60
	}
	for i := range n {
		name, commit, signers := fmt.Sprintf("mutant-%d", i), first, "signers-all"
		notes := map[string]string{first: note}
		switch m.IntN(8) {
		case 0:
			notes[first] = m.bytes(note)
		case 1:
			notes[first] = m.note(m.bytes(text), words)
		case 2, 3, 4:
			notes[first] = m.note(m.json(text), words)
		case 5: // an approval
			s := c.statement("run-one", base, first)
			a := yes
			inner := string(JSON(Approved{Kind: "plan", At: t0.Format(Time), Base: base, Task: a.Task}))
			if inner = m.json(inner); m.IntN(3) == 0 {
				inner = m.bytes(inner)
			}
			a.Signed = m.sealed(approvalType, inner, 2)
			if m.IntN(4) == 0 {
				a.Signed = m.bytes(yes.Signed)
			}
			s.Predicate.Relay.Approvals = append(s.Predicate.Relay.Approvals, a)
			notes[first] = m.note(string(JSON(s)), words)
		case 6:
			signers = "signers-" + name
			row := c.files["signers-all"]
			if m.IntN(2) == 0 {
				row = signerRow("relay,!bob", `namespaces="relay-*,git",valid-after="20260101Z",valid-before="20270101Z"`, c.trusted)
			}
			c.files[signers] = m.bytes(row)
		case 7:
			commit = m.commit(one(m, []func(string) string{m.bytes, func(s string) string {
				lines := strings.SplitAfter(s, "\n")
				at := m.IntN(len(lines))
				lines[at] += one(m, []string{"parent " + root + "\n", "tree " + strings.Repeat("0", 40) + "\n", "Relay-Run\n: run-one\n", "\u00a0Relay-Run: run-one\n", "relay-step: run-one\x1c\n", "gpgsig x\n parent " + base + "\n", "\n"})
				return strings.Join(lines, "")
			}})(string(body)))
			s := c.statement("run-one", base, first)
			s.Subject[0].Digest["gitCommit"] = commit
			if m.IntN(2) == 0 {
				notes[commit] = m.note(string(JSON(s)), words)
			}
		}
		ref := "refs/notes/cases/" + name
		fmt.Fprintf(&c.stream, "commit %s\ncommitter relay <relay@localhost> 1795000000 +0000\ndata 0\n", ref)
		for on, note := range notes { // by their paths: fast-import names no commit that it can't read
			fmt.Fprintf(&c.stream, "M 100644 inline %s\ndata %d\n%s\n", on, len(note), note)
		}
		c.stream.WriteByte('\n')
		c.cases = append(c.cases, proofCase{name, commit, ref, signers, ""})
	}
	c.load()
	dir := t.TempDir()
	var lines bytes.Buffer
	for _, x := range c.cases {
		lines.Write(append(JSON(x), '\n'))
	}
	files := maps.Clone(c.files)
	files["cases.jsonl"] = lines.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := make(chan []byte, 1)
	go func() {
		out, _ := exec.Command("python3", filepath.Join(proof, "verify.py"), "--repo", c.git.Root, "--cases", filepath.Join(dir, "cases.jsonl")).Output()
		second <- out
	}()
	seen, count := map[string]Status{}, map[Status]int{}
	why := map[string]string{}
	for _, x := range c.cases {
		found := asked(c.git, c.files[x.Signers], x.Notes, x.Commit)
		seen[x.Name], why[x.Name] = found[0].Status, found[0].Why
		count[found[0].Status]++
	}
	t.Log(count)
	c.agree(seen, <-second)
}
