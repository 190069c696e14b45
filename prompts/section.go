package prompts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps of the sections, in characters.
const (
	capGoal         = 8000
	capBudgets      = 2000
	capFacts        = 7000
	capReport       = 6000
	capBlocked      = 3000
	capStatus       = 2000
	capAnswer       = 2000
	capTask         = 40000
	capInstructions = 8000
	capRetry        = 2000
	capWord         = 200
	capProduct      = 80
	maxListed       = 100
	maxAnswers      = 10
)

// fence begins every line of data. The templates tell the model so.
const fence = "| "

// none stands for a section without content, so that a gap is never read as a slip.
const none = "(none)"

// block fences a text of several lines: every line gets the fence in front,
// whatever it contains. A text over the cap keeps its first 70 % and its last
// 30 %, and an unfenced line between them says what is missing.
func block(s string, limit int) string {
	s = strings.TrimRight(clean(s), "\n")
	if strings.TrimSpace(s) == "" {
		return none
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return fenced(s)
	}
	r := []rune(s)
	head := limit * 7 / 10
	tail := limit - head
	return fenced(string(r[:head])) + "\n" +
		fmt.Sprintf("[relay left out %d of %d characters here]", n-limit, n) + "\n" +
		fenced(string(r[n-tail:]))
}

// blockOrEmpty is block without the stand-in for an empty text.
func blockOrEmpty(s string, limit int) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return block(s, limit)
}

func fenced(s string) string {
	return fence + strings.ReplaceAll(s, "\n", "\n"+fence)
}

// clean makes every line break a plain one and every other character that could
// move text about visible, so that no line of data can begin without its fence.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// word is a short value in the middle of a line: a JSON string, which cannot hold
// a line break.
func word(s string) string {
	if s == "" {
		return none
	}
	return quote(clip(s, capWord))
}

// product is the name that the texts call relay by: one short line.
func product(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(clean(name), "\n", " "))
	if name == "" {
		return "relay"
	}
	return clip(name, capProduct)
}

// list is a JSON array of strings on one line.
func list(items []string) string {
	if len(items) == 0 {
		return none
	}
	left := len(items) - maxListed
	if left > 0 {
		items = items[:maxListed]
	}
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quote(clip(s, capWord))
	}
	out := "[" + strings.Join(quoted, ", ") + "]"
	if left > 0 {
		out += fmt.Sprintf(" [relay left out %d more]", left)
	}
	return out
}

func answers(all []Answer) string {
	if len(all) == 0 {
		return none
	}
	var b strings.Builder
	if left := len(all) - maxAnswers; left > 0 {
		fmt.Fprintf(&b, "[relay left out %d older answers]\n", left)
		all = all[left:]
	}
	for i, a := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("Question:\n" + block(a.Question, capAnswer) + "\nAnswer:\n" + block(a.Answer, capAnswer))
	}
	return b.String()
}

// schema is relay's own JSON, made compact; it needs no fence.
func schema(b []byte) string {
	var out bytes.Buffer
	if len(b) == 0 || json.Compact(&out, b) != nil {
		return none
	}
	return out.String()
}

func number(n int) string {
	if n <= 0 {
		return none
	}
	return strconv.Itoa(n)
}

func yesNo(b bool) string { return strconv.FormatBool(b) }

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(clean(s)); err != nil {
		return none // unreachable: a string always encodes
	}
	return strings.TrimRight(b.String(), "\n")
}

// clip keeps the first limit characters and says that there were more.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
