package docpages

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	link     = regexp.MustCompile(`!?\[[^\]]*\]\(([^()\s]+(?:\([^()]*\))?)\)`)
	heading  = regexp.MustCompile(`^#{1,6}\s+(.*)$`)
	named    = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notASlug = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
	inline   = regexp.MustCompile("`[^`]*`")
)

// Links are the addresses that a text links to, outside of code.
func Links(text string) []string {
	var all []string
	for _, line := range prose(text) {
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(line, "``"), -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// Anchors are the names by which a link reaches the headings of a text, as GitHub makes
// them.
func Anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(text) {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			all[m[1]] = true
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			title := linked.ReplaceAllString(m[1], "$1")
			slug := strings.ReplaceAll(strings.ToLower(notASlug.ReplaceAllString(strings.TrimSpace(title), "")), " ", "-")
			name := slug
			for n := 1; all[name]; n++ {
				name = fmt.Sprintf("%s-%d", slug, n)
			}
			all[name] = true
		}
	}
	return all
}

// prose is the lines of a text that are in no fence.
func prose(text string) []string {
	var out []string
	end := ""
	for _, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case end != "":
			if strings.TrimSpace(line) == end {
				end = ""
			}
		case m != nil:
			end = m[1]
		default:
			out = append(out, line)
		}
	}
	return out
}

// CheckLinks says which links of the pages lead nowhere: to a file that is not there, or to
// a heading that it does not have. Addresses of other hosts are not asked.
func CheckLinks(root string, pages []*Page) (checked int, broken []string) {
	text := map[string]string{}
	for _, p := range pages {
		text[p.Path] = p.Text
	}
	for _, p := range pages {
		for _, to := range Links(p.Text) {
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(to, "#")
			target := p.Path
			if file != "" {
				target = path.Join(path.Dir(p.Path), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s: there is no %s", p.Path, to, target))
				continue
			}
			if t, ok := text[target]; anchor != "" && ok && !Anchors(t)[anchor] {
				broken = append(broken, fmt.Sprintf("%s: %s: %s has no such heading", p.Path, to, target))
			}
		}
	}
	return checked, broken
}

// Unreached are the pages that nobody finds who starts at one page and follows links.
func Unreached(pages []*Page, start string) []string {
	byPath := map[string]*Page{}
	for _, p := range pages {
		byPath[p.Path] = p
	}
	seen := map[string]bool{start: true}
	for todo := []string{start}; len(todo) > 0; todo = todo[1:] {
		p := byPath[todo[0]]
		if p == nil {
			continue
		}
		for _, to := range Links(p.Text) {
			file, _, _ := strings.Cut(to, "#")
			target := path.Join(path.Dir(p.Path), file)
			if file != "" && !seen[target] {
				seen[target] = true
				todo = append(todo, target)
			}
		}
	}
	var left []string
	for _, p := range pages {
		if !seen[p.Path] {
			left = append(left, p.Path)
		}
	}
	return left
}
