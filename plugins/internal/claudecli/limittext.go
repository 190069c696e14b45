package claudecli

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // limits are told in zones of people

	"github.com/paxiom/relay/sdk/httpjson"
)

// Versions that report no limit of an account as data say it in a message that the
// program made up itself, never in a model's words. These are the sentences of such
// messages, by how they begin; the apostrophe is made straight and spaces are folded.
var limitTexts = []*regexp.Regexp{
	regexp.MustCompile(`^Claude (?:AI|Code) usage limit reached(?:\|(?P<epoch>\d{9,13}))?`),
	regexp.MustCompile(`^You've (?:hit|reached) your (?P<name>[A-Za-z0-9 -]*?) ?(?:usage )?limit\b`),
	regexp.MustCompile(`^(?P<name>\d+-hour|(?:Session|Daily|Weekly|Monthly|Opus|Sonnet|Usage)(?: weekly)?) limit reached\b`),
}

var (
	resetText = regexp.MustCompile(`\bresets (?:at )?(?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:,| at)? )?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>am|pm|AM|PM)(?: \((?P<zone>[A-Za-z_+/0-9-]+)\))?`)
	spaces    = regexp.MustCompile(`\s+`)
)

// limitText reads such a message: whether it is one, the limit's name, and when it
// ends, as far as it is said.
func limitText(message string, now time.Time) (name string, reset time.Time, ok bool) {
	m := spaces.ReplaceAllString(strings.ReplaceAll(strings.TrimSpace(message), "’", "'"), " ")
	for _, re := range limitTexts {
		x := re.FindStringSubmatch(m)
		if x == nil {
			continue
		}
		if i := re.SubexpIndex("name"); i >= 0 {
			name = strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(x[i]))
		}
		if i := re.SubexpIndex("epoch"); i >= 0 && x[i] != "" {
			n, _ := strconv.ParseFloat(x[i], 64) // few digits
			return name, httpjson.Epoch(n), true
		}
		return name, resetOf(m, now), true
	}
	return "", time.Time{}, false
}

// resetOf finds "resets 6am (UTC)", "resets 6:30pm" and "resets Nov 24, 6am (Europe/Berlin)".
// Without a zone it is that of this machine, which the program shares; without a date it is the next such time.
func resetOf(m string, now time.Time) time.Time {
	x := resetText.FindStringSubmatch(m)
	if x == nil {
		return time.Time{}
	}
	part := func(name string) string { return x[resetText.SubexpIndex(name)] }
	zone := now.Location()
	if z := part("zone"); z != "" {
		var err error
		if zone, err = time.LoadLocation(z); err != nil {
			return time.Time{}
		}
	}
	hour, _ := strconv.Atoi(part("hour"))
	minute, _ := strconv.Atoi(part("minute"))
	if hour < 1 || hour > 12 || minute > 59 {
		return time.Time{}
	}
	hour %= 12
	if strings.EqualFold(part("half"), "pm") {
		hour += 12
	}
	now = now.In(zone)
	if part("month") == "" {
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, zone)
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, zone)
		}
		return at
	}
	day, err := time.Parse("Jan 2", part("month")+" "+part("day"))
	if err != nil {
		return time.Time{}
	}
	at := time.Date(now.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
	if at.Before(now.AddDate(0, -1, 0)) { // said at the end of a year
		at = time.Date(now.Year()+1, day.Month(), day.Day(), hour, minute, 0, 0, zone)
	}
	return at
}
