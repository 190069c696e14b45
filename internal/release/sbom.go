package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// program is one file of a release, with what the linker wrote down in it.
type program struct {
	name, path, hash string
	info             *debug.BuildInfo
}

// version is the one that Go took from git: a tag, or one made of time and commit.
func (p program) version() string { return p.info.Main.Version }

// readPrograms reads relay and its plugins in a folder, relay first.
func readPrograms(dir string) ([]program, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []program
	for _, f := range files {
		p := program{name: f.Name(), path: filepath.Join(dir, f.Name())}
		if p.info, err = buildinfo.ReadFile(p.path); err != nil {
			return nil, err
		}
		if p.hash, err = hash(p.path); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b program) int { return cmp.Compare(len(a.name), len(b.name)) })
	if len(all) == 0 || all[0].name != "relay" || all[0].version() == "" || all[0].version() == "(devel)" || strings.HasSuffix(all[0].version(), "+dirty") {
		return nil, errors.New("relay has no version from git: is git installed, and the clone a repository?")
	}
	slices.SortFunc(all[1:], func(a, b program) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// The parts of CycloneDX 1.6 that an SBOM of Go programs needs.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Scope      string     `json:"scope,omitempty"`
		Hashes     []sum      `json:"hashes,omitempty"`
		Licenses   []license  `json:"licenses,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	sum struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	license struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref  string   `json:"ref"`
		Uses []string `json:"dependsOn,omitempty"`
	}
)

// bill makes the SBOM of a platform's programs: what the linker wrote into each of them,
// not what go.mod could have wanted.
func bill(programs []program, version, platform string, at time.Time, goSum string) ([]byte, error) {
	known, err := readSums(goSum)
	if err != nil {
		return nil, err
	}
	top := "relay@" + version + "?platform=" + platform
	mit := license{}
	mit.License.ID = "MIT"
	b := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{Timestamp: at.Format(time.RFC3339), Component: component{Type: "application", Ref: top,
		Name: "relay", Version: version, Licenses: []license{mit}, PURL: "pkg:golang/" + programs[0].info.Main.Path + "@v" + version, Properties: []property{{"relay:platform", platform}, {"relay:commit", setting(programs[0], "vcs.revision")}}}}}
	all := dependency{Ref: top}
	modules := map[string]component{}
	for _, p := range programs {
		ref := "file:" + p.name
		all.Uses = append(all.Uses, ref)
		b.Components = append(b.Components, component{Type: "application", Ref: ref, Name: p.name, Version: version, Hashes: []sum{{"SHA-256", p.hash}}, Licenses: []license{mit}})
		one := dependency{Ref: ref}
		for _, m := range linked(p.info) {
			own := m.Version == "(devel)" // the SDK: a module by itself, of the same commit
			if own {
				m.Version = "v" + version
			}
			c := component{Type: "library", Ref: "pkg:golang/" + m.Path + "@" + m.Version, Name: m.Path, Version: m.Version, Scope: "required", PURL: "pkg:golang/" + m.Path + "@" + m.Version}
			if h := cmp.Or(m.Sum, known[m.Path+" "+m.Version]); h != "" {
				c.Properties = []property{{"go:sum", h}}
			} else if m.Path != "stdlib" && !own {
				return nil, fmt.Errorf("go.sum does not know %s %s, which is in %s", m.Path, m.Version, p.name)
			}
			modules[c.Ref] = c
			one.Uses = append(one.Uses, c.Ref)
		}
		slices.Sort(one.Uses)
		b.Dependencies = append(b.Dependencies, one)
	}
	b.Dependencies = append(b.Dependencies, all)
	start := len(b.Components)
	for _, c := range modules {
		b.Components = append(b.Components, c)
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	slices.SortFunc(b.Components[start:], func(a, c component) int { return cmp.Compare(a.Ref, c.Ref) })
	slices.SortFunc(b.Dependencies, func(a, c dependency) int { return cmp.Compare(a.Ref, c.Ref) })
	return b.encode()
}

// linked are the modules in a program, the standard library among them.
func linked(info *debug.BuildInfo) []debug.Module {
	all := []debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, *m)
	}
	return all
}

func setting(p program, key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// encode gives the SBOM a number made of what it says: the same release, the same number.
func (b bom) encode() ([]byte, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(raw)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // a UUID of the kind that means "made of a hash of ours"
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
	raw, err = json.MarshalIndent(b, "", "  ")
	return append(raw, '\n'), err
}

// readSums reads go.sum: the hash of each module by its path and version.
func readSums(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if parts := strings.Fields(lines.Text()); len(parts) == 3 && !strings.HasSuffix(parts[1], "/go.mod") {
			sums[parts[0]+" "+parts[1]] = parts[2]
		}
	}
	return sums, lines.Err()
}
