package builderresult

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWithinTheSchema(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Repeat("é", 400)
	}
	for name, in := range map[string]Result{
		"empty": {}, "huge": {Summary: strings.Repeat("x", 5000), FilesIntended: many, CommandsRan: many, Notes: many},
		"broken": {Summary: " \xff ", FilesIntended: []string{"", "a\xffb"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got map[string]any
			if err := json.Unmarshal(in.JSON(), &got); err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCountInString(got["summary"].(string)); n < 1 || n > 800 {
				t.Errorf("summary has %d characters", n)
			}
			for key, limit := range map[string]int{"files_intended": 200, "commands_ran": 50, "notes": 20} {
				list, ok := got[key].([]any)
				if !ok || len(list) > limit {
					t.Errorf("%s: %d entries, a list: %v", key, len(list), ok)
				}
				for _, e := range list {
					if n := utf8.RuneCountInString(e.(string)); n < 1 || n > 300 {
						t.Errorf("%s: an entry has %d characters", key, n)
					}
				}
			}
			if len(got) != 4 {
				t.Errorf("keys: %v", got)
			}
			if name == "huge" && !strings.Contains(string(in.JSON()), "800 more files are not listed") {
				t.Error("it is not said what was cut")
			}
		})
	}
}
