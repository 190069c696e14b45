package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every script that the table names exists, and no requirement that was walked is
// left out.
func TestTable(t *testing.T) {
	rows, err := read("../..")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		seed, _, _ := strings.Cut(r.id, "-")
		count[seed]++
	}
	if walked := len(rows) - count["000"] - count["003"]; walked != 142 || count["000"] == 0 || count["003"] == 0 {
		t.Errorf("%d requirements of the seeds 001 and 002, 142 were walked; %d of 000, %d of 003", walked, count["000"], count["003"])
	}
}

func TestTableIsChecked(t *testing.T) {
	for want, table := range map[string]string{
		"no such file": "1\tworks\tnowhere\tx\n",
		"twice":        "1\tworks\t-\tx\n1\tworks\t-\tx\n",
		"no state":     "1\tperhaps\t-\tx\n",
		"a reason":     "1\tdeviates\t-\tx\n",
		"columns":      "1\tworks\n",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "testdata/seeds"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "testdata/seeds/seeds.tsv"), []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := read(root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", table, err)
		}
	}
}
