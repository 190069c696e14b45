package digest

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/judge"
)

// browsers are the programs that can take a picture of a page without a screen.
var browsers = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

func browser(t *testing.T) string {
	t.Helper()
	names := browsers
	if own := os.Getenv("RELAY_BROWSER"); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("no browser here: none of %s is in PATH (`apt-get install chromium-headless-shell fonts-dejavu-core`, or RELAY_BROWSER=PROGRAM)", strings.Join(names, ", "))
	return ""
}

// browse runs the browser on a page in a home of its own, and gives what it printed.
func browse(t *testing.T, program, page string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--force-device-scale-factor=1", "--user-data-dir=" + filepath.Join(dir, "profile")}, flags...)
	cmd := exec.CommandContext(ctx, program, append(args, "file://"+file)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	return string(out)
}

// picture is what a person sees of the page. RELAY_PICTURES keeps it for a look.
func picture(t *testing.T, program, name, page string, width, height int) image.Image {
	t.Helper()
	dir := os.Getenv("RELAY_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, name+".png")
	browse(t, program, page, fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// ink is the share of pixels that are not the background, and how many have each color.
func ink(img image.Image, part image.Rectangle) (share float64, colors map[color.RGBA]int) {
	colors = map[color.RGBA]int{}
	paper := color.RGBAModel.Convert(img.At(0, 0)).(color.RGBA)
	n := 0
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			if c != paper {
				n++
			}
			colors[c]++
		}
	}
	return float64(n) / float64(part.Dx()*part.Dy()), colors
}

// busy is a night with many runs, long words and every kind of section.
func busy() *Digest {
	d := sample()
	first := d.Runs[0]
	for i := range 40 {
		r := first
		r.RunID = fmt.Sprintf("20261121-0%d%02d00-bbbbbbbb", i/6, i%60)
		r.At = d.Since.Add(time.Duration(i) * 17 * time.Minute)
		r.Code = []judge.Code{judge.Success, judge.Success, judge.StopForbidden, judge.BlockedBudgetCap}[i%4]
		r.Files, r.Added, r.Deleted = i%7, i*13%120, i*7%40
		r.Intent = "Mend the parser of src/internal/deeply/nested/folder/with/a/very/long/name/that/nobody/breaks/parser.go"
		if r.Code == judge.Success {
			r.Commit = "0123456789abcdef"
			d.Landed = append(d.Landed, r)
		}
		d.Runs = append(d.Runs, r)
	}
	slices.SortFunc(d.Runs, func(a, b Run) int { return a.At.Compare(b.At) })
	d.States = append(d.States, State{"ORCHESTRATE", 180_000}, State{"JUDGE", 300})
	return d
}

// The page as a real browser shows it: in light and in dark, on a screen and on a phone.
// Every plot has its colors, text is there, and nothing is wider than the window.
func TestPageInABrowser(t *testing.T) {
	program := browser(t)
	light := map[string]color.RGBA{"good": {0x1a, 0x7f, 0x4b, 255}, "bad": {0xb3, 0x26, 0x1e, 255}, "warn": {0x8a, 0x5a, 0x00, 255}, "text": {0x1c, 0x1e, 0x21, 255}}
	dark := map[string]color.RGBA{"good": {0x57, 0xc4, 0x8a, 255}, "bad": {0xff, 0x8a, 0x80, 255}, "warn": {0xe6, 0xb4, 0x50, 255}, "text": {0xe6, 0xe8, 0xeb, 255}}
	for _, tc := range []struct {
		name          string
		of            *Digest
		width, height int
		dark          bool
	}{
		{name: "screen", of: busy(), width: 1200, height: 3200},
		{name: "dark", of: sample(), width: 1200, height: 1700, dark: true},
		{name: "phone", of: sample(), width: 390, height: 2000},
		{name: "busy phone", of: busy(), width: 390, height: 4800},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, page := render(t, tc.of)
			palette := light
			if tc.dark { // whatever the machine prefers
				page, palette = strings.Replace(page, "(prefers-color-scheme: dark)", "(min-width: 1px)", 1), dark
			}
			img := picture(t, program, tc.name, page, tc.width, tc.height)
			if got := img.Bounds().Size(); got != image.Pt(tc.width, tc.height) {
				t.Fatalf("the picture is %v", got)
			}
			share, colors := ink(img, img.Bounds())
			if share < 0.01 || share > 0.7 {
				t.Errorf("%.1f %% of the picture is not background", 100*share)
			}
			for name, c := range palette {
				if colors[c] < 40 {
					t.Errorf("%d pixels have the color of %s, %v", colors[c], name, c)
				}
			}
			for y := 0; y < tc.height/2; y += 300 { // no hole in what is filled in any case
				if share, _ := ink(img, image.Rect(0, y, tc.width, y+300)); share < 0.005 {
					t.Errorf("nothing to be seen between %d and %d", y, y+300)
				}
			}
			if tc.dark {
				return
			}
			if got := widest(t, program, page, tc.width); got != "" {
				t.Errorf("wider than the window of %d: %s", tc.width, got)
			}
		})
	}
}

// widest names what is not whole in the window, but for the lines of a diff, which scroll by
// themselves: a script that the page itself would not run measures it.
func widest(t *testing.T, program, page string, width int) string {
	t.Helper()
	measure := `<script>
const wide = [...document.querySelectorAll("body *")].filter(e => !e.closest("pre > *") && (e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)).map(e => e.tagName + " " + e.textContent.slice(0, 40));
document.documentElement.setAttribute("data-wide", innerWidth + ":" + wide.slice(0, 3).join(", "));
</script></body>`
	page = strings.Replace(page, `content="default-src 'none'; style-src 'unsafe-inline'"`, `content=""`, 1)
	page = strings.ReplaceAll(page, "<details>", "<details open>")
	dom := browse(t, program, strings.Replace(page, "</body>", measure, 1), fmt.Sprintf("--window-size=%d,900", width), "--dump-dom")
	_, rest, ok := strings.Cut(dom, `data-wide="`)
	found, _, _ := strings.Cut(rest, `"`)
	window, wide, _ := strings.Cut(found, ":")
	if !ok || window == "0" {
		t.Fatalf("the page could not be measured: %.300s", dom)
	}
	return wide
}

// A real browser runs nothing of what a model wrote, however long it is.
func TestNoScriptRuns(t *testing.T) {
	program := browser(t)
	const script = `</title></style></svg></textarea><script>document.documentElement.dataset.ran=1</script><img src=x onerror="document.documentElement.dataset.ran=2"><svg onload="document.documentElement.dataset.ran=3">`
	if dom := browse(t, program, "<!doctype html><title>x</title>"+script, "--dump-dom"); !strings.Contains(dom, "data-ran") {
		t.Fatalf("the browser runs no script at all: %s", dom)
	}
	d := sample()
	poisonWith(reflect.ValueOf(d), script+strings.Repeat("W", 1<<16))
	_, page := render(t, d)
	if dom := browse(t, program, page, "--dump-dom"); strings.Contains(dom, "data-ran") || !strings.Contains(dom, "onerror") {
		t.Errorf("a script ran, or the text is not there: %.2000s", dom)
	}
}
