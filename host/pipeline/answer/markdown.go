package answer

import (
	"fmt"
	"strings"
)

// Text gives a plan as text, for those who carry it out and for plans/<id>_plan.md.
func (p *Plan) Text() string {
	var b strings.Builder
	b.WriteString(p.Approach + "\n")
	if len(p.Steps) == 0 {
		b.WriteString("\nNothing has to be changed.\n")
	} else {
		b.WriteString("\nSteps\n")
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s.Do)
		if len(s.Files) > 0 {
			b.WriteString("   files: " + strings.Join(s.Files, ", ") + "\n")
		}
	}
	list(&b, "Checks", p.Checks)
	list(&b, "Risks", p.Risks)
	if p.Question != "" {
		b.WriteString("\nQuestion\n" + p.Question + "\n")
	}
	return b.String()
}

func list(b *strings.Builder, title string, all []string) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, s := range all {
		b.WriteString("- " + s + "\n")
	}
}
