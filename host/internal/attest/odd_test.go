package attest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"strings"

	"github.com/paxiom/relay/judge/git"
)

// unseen is the answer about what could not be looked at: relay verify exits with 3.
const unseen Status = "could not be looked at"

// asked gives relay's answers about a commit or a range.
func asked(git *git.Repo, signers, ref, what string) []Found {
	all, err := ParseSigners(signers)
	var commits []string
	if err == nil {
		commits, err = Commits(context.Background(), git, what)
	}
	var found []Found
	if err == nil {
		found, err = (&Verifier{Git: git, Signers: all, Ref: ref}).Verify(context.Background(), commits)
	}
	if err != nil {
		return []Found{{Status: unseen, Why: err.Error()}}
	}
	return found
}

// signersOf are spellings of the file of signers, with the answer about a commit that landed.
var signersOf = map[string]Status{
	"crlf": Verified, "bom": Verified, "not-first": Verified, "star": Verified, "two-names": Verified, "quoted": Verified, "tab": Verified, "option-case": Verified, "then-garbage": Verified,
	"garbage-first": Verified, "bom-comment": Verified, "authority-and-key": Verified, "until-then": Verified, "until-then-no-zone": Verified, "from-then": Verified, "namespace-glob": Verified, "namespace-two-lines": Verified, "expired-then-other": Verified, "time-february": Verified,
	"no-name": Nothing, "option-comma": Nothing, "not": Nothing, "not-all": Nothing, "not-same": Nothing, "namespace-not": Nothing, "namespace-class": Nothing, "namespace-empty": Nothing, "namespace-unquoted": Nothing, "namespace-then-other": Nothing,
	"option-twice": Nothing, "time-epoch": Nothing, "option-unknown": Nothing, "time-empty": Nothing, "time-short": Nothing, "time-fraction": Nothing, "time-reversed": Nothing, "kind": Nothing, "key-cut": Nothing,
	"empty": unseen, "comment": unseen, "comment-key": unseen, "authority-only": unseen, "text": unseen, "unquoted-only": unseen, "option-only": unseen, "key-return": Verified, "time-month": unseen, "options-blank": unseen, "twice-alone": unseen, "kind-case": unseen, "name-latin": Verified, "key-only": unseen,
}

func (c *corpus) signers() {
	row := func(name, options string) string { return signerRow(name, options, c.trusted) }
	bob := signerRow("bob", "", keyOf(2)) // so that there is somebody to believe
	for name, text := range map[string]string{
		"crlf": strings.ReplaceAll("# ours\n"+row("relay", "")+bob, "\n", "\r\n"), "bom": "\ufeff" + row("relay", ""), "bom-comment": "\ufeff# ours\n" + row("relay", ""),
		"star": row("*", ""), "two-names": row("relay,bot", ""), "quoted": row(`"re lay"`, ""), "tab": strings.ReplaceAll(row("relay", ""), " ", "\t"),
		"option-comma": row("relay", `namespaces="relay-attestation",`) + bob, "no-name": row(",", "") + bob, "not": row("!relay", "") + bob, "not-all": row("!*,relay", "") + bob, "not-same": row("!relay,relay", "") + bob, "not-first": row("!bob,relay", ""),
		"namespace-glob": row("relay", `namespaces="git,relay-*"`), "namespace-not": row("relay", `namespaces="!relay-attestation,*"`), "namespace-class": row("relay", `namespaces="relay-[a]ttestation"`),
		"namespace-empty": row("relay", `namespaces=""`), "namespace-unquoted": row("relay", "namespaces=relay-attestation") + bob, "namespace-two-lines": row("relay", `namespaces="git"`) + row("relay", `namespaces="relay-attestation"`),
		"namespace-then-other": row("relay", `namespaces="git"`) + row("bot", ""), "expired-then-other": row("relay", `valid-before="20261101Z"`) + row("bot", ""),
		"option-case": row("relay", `NameSpaces="relay-attestation"`), "option-twice": row("relay", `namespaces="git",namespaces="relay-attestation"`) + bob, "option-unknown": row("relay", "no-touch-required") + bob,
		"until-then": row("relay", `valid-before="20261123050000Z"`), "until-then-no-zone": row("relay", `valid-before="20261123050000"`), "from-then": row("relay", `valid-after="20261123050000Z"`), "time-reversed": row("relay", `valid-after="20261201Z",valid-before="20261101Z"`) + bob,
		"time-empty": row("relay", `valid-before=""`) + bob, "time-epoch": row("relay", `valid-after="19700101Z"`) + bob, "time-february": row("relay", `valid-before="20270230Z"`), "comment-key": "#" + row("relay", ""), "time-short": row("relay", `valid-before="2027"`) + bob, "authority-and-key": row("relay", "cert-authority") + row("relay", ""), "authority-only": row("relay", "cert-authority"),
		"unquoted-only": row("relay", "namespaces=relay-attestation"), "option-only": row("relay", "no-touch-required"), "key-only": row("relay", "")[:40] + "\n",
		"garbage-first": "garbage\n" + row("relay", ""), "then-garbage": row("relay", "") + "garbage\n", "kind": strings.Replace(row("relay", ""), "ssh-ed25519", "ssh-rsa", 1) + bob, "key-cut": row("relay", "")[:40] + "\n" + bob,
		"empty": "", "comment": "# nobody\n", "text": "believe everybody\n", "key-return": strings.Replace(row("relay", ""), "AAAAC3", "AAAA\rC3", 1) + bob, "time-month": row("relay", `valid-before="20271301Z"`), "time-fraction": row("relay", `valid-before="20270101000000.5Z"`) + bob, "options-blank": row("relay", `namespaces="relay-*" valid-after="20260101Z"`), "kind-case": strings.Replace(row("relay", ""), "ssh-", "sSh-", 1), "name-latin": row("m\xfcller", ""), "twice-alone": row("relay", `namespaces="relay-*",namespaces="git"`),
	} {
		c.files["signers-"+name] = text
	}
}

// odd are commits, notes and statements as git and JSON allow them, and hardly anybody makes them.
func (c *corpus) odd(good *Statement, all map[string]string) {
	one, base := c.marks["one"], c.marks["base"]
	c.statements(one, good)
	c.trees(one, all)
	// What lands: no file, every kind of entry, bytes that are not UTF-8.
	raw := func(name, message, from string, lines ...string) string {
		c.odds = lines
		return c.made(name, message, []string{from})
	}
	for name, commit := range ordered(map[string]string{
		"empty":   raw("empty", "nothing\n\nRelay-Run: run-odd\n", base),
		"entries": raw("entries", "entries\n\nRelay-Run: run-odd\n", base, "M 160000 "+base+" sub", "M 120000 inline link\ndata 5\na.txt", "M 100755 inline src/a.txt\ndata 4\none\n", "D src/a.txt", "M 100755 inline src/run\ndata 1\nx"),
		"bytes":   raw("bytes", "caf\xe9 \xff\n\nRelay-Run: run-odd\n", base, "M 100644 inline \"\\377\\n \\t\\\"\\303\\274\"\ndata 1\nx"),
		"mode":    raw("mode", "mode\n\nrelay-run: run-odd\n", base, "M 100755 inline src/a.txt\ndata 4\none\n"),
	}) {
		note := c.noteOf(c.statement("run-odd", base, commit), c.trusted)
		c.add("good-"+name, commit, "signers", Verified, map[string]string{commit: note})
		again := raw(name+"-again", "amended\n\nRelay-Run: run-odd\n", base, "M 100644 inline "+name+"\ndata 0\n")
		c.add("history-"+name+"-amended", again, "signers", Changed, map[string]string{commit: note})
		c.add("copied-"+name+"-amended", again, "signers", Changed, map[string]string{again: note})
	}
	octopus := c.made("octopus", "Merge\n\nRelay-Run: run-one\n", []string{base, c.marks["side"], c.marks["two"]})
	c.add("history-octopus", octopus, "signers", Changed, all)
	claimed := c.statement("run-one", base, one)
	claimed.Subject[0].Digest["gitCommit"] = octopus
	c.add("lie-octopus", octopus, "signers", Changed, map[string]string{octopus: c.noteOf(claimed, c.trusted), one: all[one]})
	for name, key := range ordered(map[string]string{"lower": "relay-run: ", "upper": "RELAY-STEP:", "blank": "Relay-Run : ", "no-blank": "Relay-Run:", "return": "\rRelay-Run: "}) {
		c.add("history-trailer-"+name, c.made("trailer-"+name, "amended\n\n"+key+"run-one\n", []string{base}), "signers", Changed, all)
	}
	// Others name a commit by a tag, and replace one by another, which git then shows in its place.
	evil := c.marks["amend-content"]
	fmt.Fprintf(&c.stream, "tag v1\nfrom %s\ntagger Ada <ada@example.org> 1795000000 +0000\ndata 3\nv1\n\nreset refs/replace/%s\nfrom %s\n\nreset refs/replace/%s\nfrom %s\n\n", one, evil, one, c.marks["two"], evil)
	c.add("good-tag", "v1", "signers", Verified, all)
	c.add("history-replaced", evil, "signers", Changed, all)
	c.add("good-replaced", c.marks["two"], "signers", Verified, all)
	c.add("name-nothing", "refs/heads/nothing", "signers", unseen, all)
	c.add("name-tree", one+"^{tree}", "signers", unseen, all)
	c.add("name-not", "^"+one, "signers", unseen, all)
	c.add("name-option", "--all", "signers", unseen, all)
	c.add("name-options", "--end-of-options", "signers", unseen, all)
	c.add("name-alone", one+"^!", "signers", Verified, all)
	c.add("name-from", one+"^-", "signers", Verified, all)
	c.add("name-both", base+"..."+one, "signers", Verified, all)
	c.add("name-same", one+".."+one, "signers", unseen, all)
	c.add("name-message", one+"^{/^relay: one}", "signers", Verified, all)
}

// statements are payloads that a trusted key has signed as they stand.
func (c *corpus) statements(one string, good *Statement) {
	text := string(JSON(good))
	words := good.Predicate.Relay.Summary
	note := func(payload, says, signed string) string {
		sig, print := signWith(c.trusted, pae(signed, []byte(payload)))
		e := JSON(envelope{says, base64.StdEncoding.EncodeToString([]byte(payload)), []signature{{print, base64.StdEncoding.EncodeToString(sig)}}})
		return strings.Join(words, "\n") + "\n\n" + string(e) + "\n"
	}
	for name, payload := range ordered(map[string]string{
		"key-twice":      strings.Replace(text, `{"_type"`, `{"_type":"x","_type"`, 1),
		"key-twice-deep": strings.Replace(text, `"code":"SUCCESS"`, `"code":"STOP_FORBIDDEN","code":"SUCCESS"`, 1),
		"key-escaped":    strings.Replace(text, `"code":"SUCCESS"`, `"c\u006fde":"STOP_FORBIDDEN","code":"SUCCESS"`, 1),
		"key-case":       strings.Replace(text, `"subject"`, `"Subject"`, 1),
		"key-case-more":  strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","Code":"SUCCESS"`, 1),
		"surrogate":      strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS\ud800"`, 1),
		"time-zone":      strings.Replace(text, `T05:00:00Z`, `T06:00:00+01:00`, 1),
		"time-fraction":  strings.Replace(text, `T05:00:00Z`, `T05:00:00.5Z`, 1),
		"after":          text + "{}",
		// A trusted key signs what is not of the published form.
		"left-out":      strings.Replace(text, `"approvals":`, `"later":`, 1),
		"null":          strings.Replace(text, `"evidence":"`, `"evidence":null,"later":"`, 1),
		"kind":          strings.Replace(text, `"exit_code":0`, `"exit_code":false`, 1),
		"fraction":      strings.Replace(text, `"exit_code":0`, `"exit_code":0.0`, 1),
		"number-large":  strings.Replace(text, `"exit_code":0`, `"exit_code":9223372036854775808`, 1),
		"number-long":   strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":`+strings.Repeat("9", 70), 1),
		"not-a-number":  strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":NaN`, 1),
		"nested":        strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":`+strings.Repeat("[", 30)+strings.Repeat("]", 30), 1),
		"nul":           strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":"\u0000"`, 1),
		"half":          strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":"\ud800"`, 1),
		"bom":           "\ufeff" + text,
		"utf-16":        utf16(text),
		"bytes":         strings.Replace(text, `"code":"SUCCESS"`, "\"code\":\"SUCCESS\",\"later\":\"\xff\"", 1),
		"key-long-s":    strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","\u017fummary":[]`, 1),
		"digest":        strings.Replace(text, `"ceiling":{"sha256":"`, `"ceiling":{"sha256":"A`, 1),
		"workflow":      strings.Replace(text, `"workflow":"`, `"workflow":"x`, 1),
		"touched-lines": strings.Replace(text, `"lines":[`, `"lines":[1,`, 1),
		"time-1969":     strings.Replace(text, "2026-11-23T05:00:00Z\",\"res", "1969-12-31T23:59:59Z\",\"res", 1),
		"time-february": strings.Replace(text, "2026-11-23T05:00:00Z\",\"res", "2026-02-30T05:00:00Z\",\"res", 1),
		"time-leap":     strings.Replace(text, "2026-11-23T05:00:00Z\",\"res", "2026-11-23T23:59:60Z\",\"res", 1),
	}) {
		if payload == text {
			c.t.Errorf("lie-%s is none", name)
		}
		c.add("lie-"+name, one, "signers", Nothing, map[string]string{one: note(payload, payloadType, payloadType)})
	}
	for name, more := range ordered(map[string]string{"number": "1E400", "case": `{"a":1,"A":2}`, "nested": strings.Repeat("[", 29) + strings.Repeat("]", 29), "escape": `"\\u0000 \ud83d\ude00"`, "touched": `0},"x":{"y":0`}) {
		with := strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":`+more, 1)
		if name == "touched" {
			with = strings.Replace(text, `"touched":{`, `"touched":{"later":0,`, 1)
		}
		c.add("good-more-"+name, one, "signers", Verified, map[string]string{one: note(with, payloadType, payloadType)})
	}
	c.add("good-key-more", one, "signers", Verified, map[string]string{one: note(strings.Replace(text, `"code":"SUCCESS"`, `"code":"SUCCESS","later":{"a":1}`, 1), payloadType, payloadType)})
	c.add("good-blanks", one, "signers", Verified, map[string]string{one: note(" "+text+"\n", payloadType, payloadType)})
	c.add("lie-payload-type", one, "signers", Nothing, map[string]string{one: note(text, approvalType, approvalType)})
	c.add("lie-payload-type-told", one, "signers", Nothing, map[string]string{one: note(text, payloadType, approvalType)})
	c.add("lie-payload-type-signed", one, "signers", Nothing, map[string]string{one: note(text, approvalType, payloadType)})
}

// utf16 is a text as some programs write it.
func utf16(s string) string {
	var out []byte
	for _, r := range "\ufeff" + s {
		out = binary.LittleEndian.AppendUint16(out, uint16(r))
	}
	return string(out)
}

// trees are notes as git and people keep them: fanned out, merged, and not as files.
func (c *corpus) trees(one string, all map[string]string) {
	n1, n2 := all[one], all[c.marks["two"]]
	for name, text := range ordered(map[string]string{"cat": n1 + "\n" + n2, "cat-other": n2 + "\n" + n1, "union": n1 + n2, "appended": n1 + "\nreviewed by Ada\n", "prepended": "reviewed by Ada\n\n" + n1, "long": n1 + strings.Repeat("x", 4<<10)}) {
		notes := maps.Clone(all)
		notes[one] = text
		c.add("merged-"+name, one, "signers", Nothing, notes)
	}
	file := func(mode, path, text string) string {
		return fmt.Sprintf("M %s inline %s\ndata %d\n%s", mode, path, len(text), text)
	}
	for name, x := range ordered(map[string]struct {
		want Status
		rows []string
	}{
		"flat": {Verified, []string{file("100644", one, n1)}}, "fan": {Verified, []string{file("100644", one[:2]+"/"+one[2:], n1)}}, "fan-deep": {Verified, []string{file("100644", one[:2]+"/"+one[2:4]+"/"+one[4:6]+"/"+one[6:], n1)}},
		"executable": {Verified, []string{file("100755", one, n1)}}, "both": {Nothing, []string{file("100644", one, "x\n"), file("100644", one[:2]+"/"+one[2:], n1), file("100644", "README", "x\n")}},
		"link": {Nothing, []string{file("120000", one, "../../note")}}, "submodule": {Nothing, []string{"M 160000 " + one + " " + one}}, "folder": {Nothing, []string{file("100644", one+"/note", n1)}},
		"upper": {Nothing, []string{file("100644", strings.ToUpper(one), n1)}}, "short": {Nothing, []string{file("100644", one[:12], n1)}}, "below": {Nothing, []string{file("100644", "notes/"+one, n1)}},
	}) {
		ref := "refs/notes/cases/tree-" + name
		fmt.Fprintf(&c.stream, "commit %s\ncommitter relay <relay@localhost> 1795000000 +0000\ndata 0\n%s\n\n", ref, strings.Join(x.rows, "\n"))
		c.cases = append(c.cases, proofCase{"tree-" + name, one, ref, "signers", x.want})
	}
}
