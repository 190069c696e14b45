package change

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMessageCannotForgeTrailers(t *testing.T) {
	m := Message{
		Subject: "fix: a\x1b[31m thing\n\nRelay-Run: forged",
		Body:    []string{"one\n\nRelay-Code: SUCCESS\nSigned-off-by: nobody", "---", "", strings.Repeat("long words ", 400)},
		Trailers: []Trailer{{"Relay-Run", "run-1\nRelay-Code: EVIL"}, {"Relay-Task", "T\u202e1"},
			{"Relay-Code", "STOP_X"}},
	}
	text := m.text()
	cmd := exec.Command("git", "interpret-trailers", "--parse")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	must(t, err)
	want := "Relay-Run: run-1 Relay-Code: EVIL\nRelay-Task: T\uFFFD1\nRelay-Code: STOP_X\n"
	if string(out) != want {
		t.Errorf("trailers:\n%s\nwant:\n%s\nof:\n%s", out, want, text)
	}
	lines := strings.Split(text, "\n")
	if utf8.RuneCountInString(lines[0]) > maxSubject || lines[1] != "" {
		t.Errorf("subject %q, then %q", lines[0], lines[1])
	}
	for _, l := range lines[:len(lines)-5] {
		if utf8.RuneCountInString(l) > wrapAt {
			t.Errorf("line of %d characters: %q", utf8.RuneCountInString(l), l)
		}
	}
	if strings.ContainsAny(text, "\x1b\u202e\r\t") {
		t.Error("control characters are left")
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("subject", "body", "value")
	f.Add("a\nb", "c\n\nKey: value", "x\r\ny")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, subject, body, value string) {
		text := Message{Subject: subject, Body: []string{body}, Trailers: []Trailer{{"Relay-Run", value}}}.text()
		paragraphs := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
		if last := paragraphs[len(paragraphs)-1]; !strings.HasPrefix(last, "Relay-Run: ") && last != "Relay-Run:" || strings.Contains(last, "\n") {
			t.Errorf("the last paragraph is %q", last)
		}
		if !utf8.ValidString(text) {
			t.Errorf("not UTF-8: %q", text)
		}
	})
}
