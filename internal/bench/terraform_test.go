package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// terraformPackages are those of terraform's that the archive of its module can test: others
// need modules or files that lie beside it in its repository.
const terraformPackages = "./internal/terraform/... ./internal/plans/... ./internal/addrs/... ./internal/states ./internal/lang/globalref ./internal/configs/..."

// editAddrs changes a package that nearly all others import, each time in another way, so
// that they are compiled, linked and run again.
const editAddrs = "echo \"var _ = strings.Fields(strings.Repeat(\\\"$(date +%s%N)\\\", 2))\" >> internal/addrs/module.go"

// terraform measures what a tick costs whose check is the tests of a large Go repository,
// beside the same command and the same edit outside of relay, both with warm caches.
func (b *bench) terraform() error {
	const what = "terraform's tests after an edit of internal/addrs"
	if *quick {
		row(what, "not in -quick", "-")
		return nil
	}
	out, err := exec.Command("go", "mod", "download", "-json", "github.com/hashicorp/terraform@v1.9.8").Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil {
		row(what, "can't be downloaded", "-")
		return nil
	}
	s, err := b.newSample("terraform", 0, editAddrs)
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	packages := strings.Fields(terraformPackages)
	args, err := json.Marshal(append([]string{"test"}, packages...))
	if err != nil {
		return err
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	modules := "GOMODCACHE=" + strings.TrimSpace(string(cache))
	check := `"go", "timeout_seconds": 1800, "env": ["` + modules + `"], "args": ` + string(args)
	config := strings.ReplaceAll(strings.Replace(sampleConfig, `"true", "args": []`, check, 1), "@DIR@", s.dir)
	config = strings.Replace(config, `"version": "1.0",`, `"version": "1.0", "runner": {"max_tick_seconds": 3600},`, 1)
	for _, argv := range [][]string{
		{"cp", "-r", module.Dir + "/.", s.dir}, {"chmod", "-R", "u+w", s.dir}, {"git", "add", "-A", "-f"}, {"git", "commit", "-qm", "terraform"},
	} {
		if _, err := s.exec(argv...); err != nil {
			return err
		}
	}
	if err := s.commit("plan.json", strings.ReplaceAll(samplePlan, "src/**", "internal/**")); err != nil {
		return err
	}
	if err := s.commit("relay.config.json", config); err != nil {
		return err
	}
	if _, err := s.exec(b.relay, "trust", "--yes", "--quiet"); err != nil {
		return err
	}
	var outside, ticks []time.Duration
	for round := range 4 {
		if _, err := s.exec("sh", "-c", editAddrs); err != nil {
			return err
		}
		d, err := s.timed(slices.Concat([]string{"env", modules, "go", "test"}, packages)...)
		if err != nil {
			return err
		}
		if _, err := s.exec("git", "checkout", "-q", "internal"); err != nil {
			return err
		}
		t, err := s.tick()
		if err != nil {
			return err
		}
		if round > 0 { // warm
			outside, ticks = append(outside, d), append(ticks, t.wall)
		}
	}
	row(what, ms(middle(outside)), "-")
	row("    a tick whose check they are", fmt.Sprintf("%.2f ×", float64(middle(ticks))/float64(middle(outside))), "1.3 ×")
	return nil
}
