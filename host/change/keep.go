package change

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// maxExport bounds what the builder's commits may hold, all versions of all files
// together.
const maxExport = 64 << 20

// OwnCommits is how many commits of the builder Land makes again one by one.
func (c *Change) OwnCommits() int { return len(c.own) }

// judgeOwn reads the builder's own commits and judges each of them: what a commit
// holds is published with the branch even if a later one takes it away. Git runs in
// the box for it, so the layer is read and judged again afterwards.
func (c *Change) judgeOwn(ctx context.Context, p judge.Policy) error {
	own, broken, err := c.readOwn(ctx)
	if err != nil {
		return err
	}
	if err := c.judgeLayer(ctx, p); err != nil || c.verdict.Code != judge.Success {
		return err
	}
	if broken == nil && len(own) > 0 {
		broken, err = c.lawful(ctx, own, p)
		if err != nil {
			return err
		}
	}
	if len(broken) > 0 {
		c.verdict.Code, c.verdict.Violations = broken[0].Code, broken
		return nil
	}
	c.own = own
	return nil
}

// readOwn gives the commits that the builder made on its branch, or why they can't be
// made again.
func (c *Change) readOwn(ctx context.Context) ([]ownCommit, []judge.Violation, error) {
	ref := "HEAD"
	if c.opts.Branch != "" {
		ref = "refs/heads/" + c.opts.Branch
	}
	refuse := func(why string) []judge.Violation {
		return []judge.Violation{{Code: judge.StopHeadMoved, Path: ".git/" + ref, Rule: "the builder's commits can't be made again: " + why}}
	}
	out, why, err := c.export(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	if why != "" {
		return nil, refuse(why), nil
	}
	own, err := parseStream(out, ref, c.opts.Base)
	if err != nil {
		return nil, refuse(err.Error()), nil
	}
	return own, nil, nil
}

// export runs git fast-export in the builder's box. why is what the builder is to blame
// for.
func (c *Change) export(ctx context.Context, ref string) (out []byte, why string, err error) {
	return c.inside(ctx, maxExport, "fast-export", "--signed-tags=strip", "--tag-of-filtered-object=drop", "--reencode=yes",
		"--use-done-feature", "--reference-excluded-parents", c.opts.Base+".."+ref)
}

// lawful makes the trees of the commits and judges each as if it were the change.
func (c *Change) lawful(ctx context.Context, own []ownCommit, p judge.Policy) ([]judge.Violation, error) {
	links := map[string]string{} // the only links that may be there: those of the judged change
	for _, ch := range c.verdict.Kept {
		if ch.NewMode&fs.ModeSymlink != 0 {
			links[ch.Path] = ch.Link
		}
	}
	var broken []judge.Violation
	for i := range own {
		for _, op := range own[i].ops {
			why := ""
			to, known := links[op.path]
			switch {
			case judge.HostileName(op.path) != "":
				why = "the name " + judge.HostileName(op.path)
			case !fs.ValidPath(op.path) || op.path == ".":
				why = "is not a path inside the repository"
			case op.mode == modeSubmodule && !c.moves.to(op.path, string(op.data)):
				why = "is a submodule that the change as a whole does not move there"
			case op.mode == modeLink && (!known || to != string(op.data)):
				why = "is a symbolic link that the change as a whole does not have"
			}
			if why != "" {
				broken = append(broken, judge.Violation{Code: judge.StopForbidden, Path: op.path, Rule: inCommit(own, i) + why})
			}
		}
	}
	if len(broken) > 0 {
		return broken[:min(len(broken), 200)], nil
	}
	for i := range own {
		texts := []io.Reader{strings.NewReader(own[i].message + "\n")}
		for _, op := range own[i].ops {
			texts = append(texts, strings.NewReader(op.path+"\n"), bytes.NewReader(op.data))
		}
		rule, err := c.leak(ctx, io.MultiReader(texts...))
		if err != nil {
			return nil, err
		}
		if rule != "" {
			_, from, _ := strings.Cut(rule, " holds ") // its subject may be what holds it
			return []judge.Violation{{Code: judge.StopSecret, Path: ".git", Rule: fmt.Sprintf("the builder's commit %d of %d holds %s", i+1, len(own), from)}}, nil
		}
	}
	k := newCommitter(c.env, c.layer)
	defer k.remove()
	if err := k.ownTrees(ctx, c.opts.Base, own); err != nil {
		return nil, err
	}
	for i := range own {
		changes, err := diffTree(ctx, c.env.Git, c.opts.Base, own[i].tree)
		if err != nil {
			return nil, err
		}
		t := judge.Touched{Branch: c.opts.Branch, GitConfig: c.env.Git.ConfigFiles()}
		for _, d := range changes {
			if m := c.moves.at(d.path); m != nil {
				t.Changes = append(t.Changes, m.asChange())
			} else {
				t.Changes = append(t.Changes, d.judged(links[d.path]))
			}
		}
		v := judge.Judge(t, p)
		for _, b := range v.Violations {
			b.Rule = inCommit(own, i) + b.Rule
			broken = append(broken, b)
		}
		if len(broken) > 0 { // those after it mostly break the same
			return broken, nil
		}
	}
	return nil, nil
}

// inCommit names a commit of the builder at the start of a rule.
func inCommit(own []ownCommit, i int) string {
	subject, _ := own[i].words(i)
	return fmt.Sprintf("in the builder's commit %d of %d, %q: ", i+1, len(own), clip(oneLine(subject), maxSubject))
}

// judged is a line of git diff-tree as the judge reads it.
func (d treeChange) judged(link string) judge.Change {
	mode := func(m int64) fs.FileMode {
		switch m {
		case 0:
			return 0
		case modeLink:
			return fs.ModeSymlink | 0o777
		default:
			return fs.FileMode(m & 0o777)
		}
	}
	ch := judge.Change{Path: d.path, Kind: judge.Modified, OldMode: mode(d.oldMode), NewMode: mode(d.newMode), Nlink: 1}
	switch {
	case d.oldMode == modeSubmodule || d.newMode == modeSubmodule:
		ch.Kind, ch.Note = judge.Special, "a submodule"
	case d.newMode == 0:
		ch.Kind, ch.Nlink = judge.Deleted, 0
	case d.oldMode == 0:
		ch.Kind = judge.Added
	}
	if d.newMode == modeLink {
		ch.Link = link
	}
	return ch
}

// ownTrees makes the tree of each commit, from the base's tree and its changes.
func (k *committer) ownTrees(ctx context.Context, base string, own []ownCommit) error {
	var blobs []judge.Change
	var data [][]byte
	for _, c := range own {
		for _, op := range c.ops {
			if op.mode != 0 && op.mode != modeSubmodule {
				blobs = append(blobs, judge.Change{Path: strconv.Itoa(len(data)), Kind: judge.Added})
				data = append(data, op.data)
			}
		}
	}
	oids, err := k.rawBlobs(ctx, blobs, func(ch judge.Change) (io.ReadCloser, error) {
		i, err := strconv.Atoi(ch.Path)
		return io.NopCloser(bytes.NewReader(data[i])), err
	})
	if err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := k.write(ctx, env, nil, "read-tree", base); err != nil {
		return err
	}
	for i := range own {
		var removed, added bytes.Buffer
		for _, op := range own[i].ops {
			if op.mode == 0 {
				removed.WriteString(removalLine(k.env.Git, op.path))
				continue
			}
			oid := string(op.data)
			if op.mode != modeSubmodule {
				oid, oids = oids[0], oids[1:]
			}
			fmt.Fprintf(&added, "%o %s\t%s\x00", op.mode, oid, op.path)
		}
		if _, err := k.write(ctx, env, io.MultiReader(&removed, &added), "update-index", "--replace", "-z", "--index-info"); err != nil {
			return err
		}
		tree, err := k.write(ctx, env, nil, "write-tree")
		if err != nil {
			return err
		}
		own[i].tree = strings.TrimSpace(string(tree))
	}
	return nil
}

// chain makes the builder's commits again on top of the base. It ends with the tree of
// the judged commit: where the builder's last does not have it, one more closes the gap.
func (l *lander) chain(ctx context.Context, own []ownCommit, judged string, m Message) (string, error) {
	want, err := treeOf(ctx, l.env.Git, judged)
	if err != nil {
		return "", err
	}
	total := len(own)
	if own[total-1].tree != want {
		total++
	}
	number := func(trailers []Trailer, i int) []Trailer {
		return append(slices.Clone(trailers), Trailer{"Relay-Commit", fmt.Sprintf("%d/%d", i, total)})
	}
	tip := l.base
	short := slices.DeleteFunc(slices.Clone(m.Trailers), func(t Trailer) bool { return t.Key != "Relay-Run" && t.Key != "Relay-Task" })
	for i, c := range own {
		subject, body := c.words(i)
		if tip, err = commitTree(ctx, l.env, c.tree, tip, Message{Subject: subject, Body: body, Trailers: number(short, i+1)}); err != nil {
			return "", err
		}
	}
	if total > len(own) {
		m.Trailers = number(m.Trailers, total)
		if tip, err = commitTree(ctx, l.env, want, tip, m); err != nil {
			return "", err
		}
	}
	if have, err := treeOf(ctx, l.env.Git, tip); err != nil || have != want {
		return "", errors.Join(err, fmt.Errorf("the builder's commits end at the tree %s; judged was %s", have, want))
	}
	return tip, nil
}

func treeOf(ctx context.Context, git *git.Repo, commit string) (string, error) {
	out, err := git.Run(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	if err != nil {
		return "", err
	}
	return objectName(git, out)
}

// relays says that a paragraph is trailers such as relay itself writes.
func relays(paragraph string) bool {
	for line := range strings.Lines(paragraph) {
		if !strings.HasPrefix(line, "Relay-") {
			return false
		}
	}
	return true
}

// words splits a builder's message into subject and paragraphs. Trailers of relay's are
// made again.
func (c ownCommit) words(i int) (subject string, body []string) {
	const maxBody = 50 // paragraphs
	for p := range strings.SplitSeq(strings.ReplaceAll(c.message, "\r\n", "\n"), "\n\n") {
		p = strings.TrimSpace(p)
		switch {
		case p == "", relays(p):
		case subject == "":
			subject = p
		case len(body) < maxBody:
			body = append(body, p)
		}
	}
	subject = cmp.Or(subject, fmt.Sprintf("the builder's commit %d, without a message", i+1))
	if len([]rune(oneLine(subject))) > maxSubject { // the subject line can't hold all of it
		body = append([]string{subject}, body...)
	}
	return subject, body
}
