package screen

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/paxiom/relay/host"
)

// Text makes a text of somebody else fit for a line: nothing in it controls the terminal,
// and what is read from right to left ends where it ends.
func Text(s string) string {
	return Closed(host.Safe(s))
}

// ltr has what comes after it be read from left to right: numbers after a text that is read
// the other way would be shown before it.
const ltr = "\u200e"

// Closed ends a text that is read from right to left where it ends.
func Closed(s string) string {
	if strings.ContainsFunc(s, rightToLeft) {
		s += ltr
	}
	return s
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic, unicode.Adlam)
}

// Columns counts the columns that a text takes on a terminal; sequences of our own take none.
func Columns(s string) int { return ansi.StringWidthWc(s) }

// Cut shortens a text to n columns, and says so by its end.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	end := "…"
	if strings.ContainsFunc(s, rightToLeft) {
		end += ltr // what ended it may be cut off
	}
	return ansi.TruncateWc(s, n, end)
}

// Pad fills a text up to n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-Columns(s))) }

// Fit is a text of exactly n columns.
func Fit(s string, n int) string { return Pad(Cut(s, n), n) }

// Countdown writes what is left of a time: "4h 59m", "2m 05s".
func Countdown(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	}
	if s >= 60 {
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}

// Money writes dollars.
func Money(usd float64) string {
	if usd < 1 {
		return strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return strconv.FormatFloat(usd, 'f', 2, 64)
}

// Used says what was used, as far as it is known.
func Used(u host.Usage) string {
	var parts []string
	if u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, strconv.FormatInt(*u.InputTokens+*u.OutputTokens, 10)+" tokens")
	}
	if u.CostUSD != nil {
		parts = append(parts, "$"+Money(*u.CostUSD))
	}
	return strings.Join(parts, "  ")
}

// Bar is a counter as a bar of n columns; the numbers beside it say the same.
func Bar(used, most float64, n int) string {
	full := 0
	if most > 0 {
		full = max(0, min(n, int(used/most*float64(n))))
	}
	return strings.Repeat("#", full) + strings.Repeat(".", n-full)
}

// Amount writes a number of a budget; sums of cents carry noise.
func Amount(f float64) string {
	return strconv.FormatFloat(float64(int64(f*1e4+0.5))/1e4, 'f', -1, 64)
}

// Fold breaks a text into lines of at most n columns, at spaces; what stands in backticks
// is a command and stays whole. A word that is longer than a line is left to the terminal,
// so that a path can still be copied in one piece.
func Fold(s string, n int) []string {
	if n <= 0 || Columns(s) <= n {
		return []string{s}
	}
	var lines []string
	line, gap := "", ""
	for s != "" {
		word := firstWord(s)
		s = s[len(word):]
		blank := s[:len(s)-len(strings.TrimLeft(s, " "))]
		s = s[len(blank):]
		if line != "" && Columns(line+gap+word) > n {
			lines, line, gap = append(lines, line), "", ""
		}
		line, gap = line+gap+word, blank
	}
	return append(lines, line)
}

// firstWord is what s begins with up to a space that is in no command.
func firstWord(s string) string {
	inside := false
	for i, r := range s {
		switch {
		case r == '`':
			inside = !inside && strings.Contains(s[i+1:], "`")
		case r == ' ' && !inside:
			return s[:i]
		}
	}
	return s
}
