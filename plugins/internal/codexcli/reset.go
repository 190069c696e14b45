package codexcli

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk/httpjson"
)

var (
	atClock   = regexp.MustCompile(`[Tt]ry again at (\d{1,2}:\d{2} [AP]M)`)
	atDate    = regexp.MustCompile(`[Tt]ry again at ([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) (\d{1,2}:\d{2} [AP]M)`)
	inTime    = regexp.MustCompile(`[Tt]ry again in ([0-9][^,;:"]*)`)
	pieceRE   = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?(days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s|ms)\b[ ,]*(?:and )?`)
	inSeconds = regexp.MustCompile(`"resets_in_seconds": ?(\d{1,9})\b`)
	atEpoch   = regexp.MustCompile(`"resets_at": ?(\d{9,13})\b`)
)

// maxWait bounds what is believed of a reset: no limit lasts longer than a month.
const maxWait = 32 * 24 * time.Hour

// resetTime finds in a message when a limit ends; zero when it does not say so. The
// program writes a time of today without the date, in the time zone that it was
// given, which is UTC.
func resetTime(m string, now time.Time) time.Time {
	at := parseReset(m, now.UTC())
	if at.IsZero() || at.Before(now.Add(-time.Minute)) || at.After(now.Add(maxWait)) {
		return time.Time{}
	}
	return at
}

func parseReset(m string, now time.Time) time.Time {
	if x := atEpoch.FindStringSubmatch(m); x != nil {
		n, _ := strconv.ParseFloat(x[1], 64) // few digits
		return httpjson.Epoch(n).UTC()
	}
	if x := inSeconds.FindStringSubmatch(m); x != nil {
		n, _ := strconv.Atoi(x[1])
		return now.Add(time.Duration(n) * time.Second)
	}
	if x := atDate.FindStringSubmatch(m); x != nil {
		t, err := time.Parse("Jan 2, 2006 3:04 PM", x[1]+" "+x[2]+", "+x[3]+" "+x[4])
		if err != nil {
			return time.Time{}
		}
		return t
	}
	if x := atClock.FindStringSubmatch(m); x != nil {
		t, err := time.Parse("3:04 PM", x[1])
		if err != nil {
			return time.Time{}
		}
		at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
		if at.Before(now.Add(-time.Minute)) { // said shortly before midnight
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	if x := inTime.FindStringSubmatch(m); x != nil {
		if d := duration(x[1]); d > 0 {
			return now.Add(d)
		}
	}
	return time.Time{}
}

// duration reads "1.5s", "20 seconds" and "2 days 3 hours 4 minutes"; 0 when it can't.
func duration(s string) time.Duration {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	var sum float64
	for {
		x := pieceRE.FindStringSubmatch(s)
		if x == nil {
			break
		}
		n, err := strconv.ParseFloat(x[1], 64)
		unit := units[x[2][:1]]
		if x[2] == "ms" {
			unit = time.Millisecond
		}
		sum += n * float64(unit)
		if err != nil || sum > float64(maxWait) {
			return 0
		}
		s = strings.TrimPrefix(s, x[0])
	}
	return time.Duration(sum)
}
