package evidence

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/verify"
)

// MaxJUnit is the longest report in XML that is read, in bytes, and maxAllJUnit what is read
// of all of a check's: a check could continue writing them for as long as its disk lasts.
const (
	MaxJUnit    = 32 << 20
	maxAllJUnit = 256 << 20
)

// JUnit are the reports in JUnit's XML of one check, of a runner that relay has no reporter
// for. They are files that a runner wrote, so that they say less than a pipe.
type JUnit struct {
	// Root is the top of the repository, which some runners put before the files of tests.
	Root string

	r    *reader
	read int64 // bytes of all of them
}

// Read adds one file; one of another kind adds nothing. name is its path, for messages.
// One that is too long counts as cut short, or its tests as missing: no length widens a verdict.
func (j *JUnit) Read(name string, from io.Reader) {
	text, err := io.ReadAll(io.LimitReader(from, min(MaxJUnit, maxAllJUnit-j.read)))
	if err != nil {
		return
	}
	j.read += int64(len(text))
	// What tests print is often no XML, and says nothing here.
	text = bytes.ToValidUTF8(bytes.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return ' '
		}
		return c
	}, text), []byte("?"))
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict, d.CharsetReader = false, func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	run, test, file, whole := "", "", "", false
	var status verify.Status
	for {
		token, err := d.Token()
		if err != nil {
			switch {
			case run == "":
			case errors.Is(err, io.EOF):
				j.r.line("end\t" + run)
			default:
				j.r.out.Broken = path.Base(name) + " is cut short"
			}
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			at := func(key string) string {
				for _, a := range t.Attr {
					if a.Name.Local == key {
						return a.Value
					}
				}
				return ""
			}
			switch t.Name.Local {
			case "testsuites", "testsuite":
				if run == "" {
					if j.r == nil {
						j.r = newReader()
					}
					run = "junit-" + strconv.Quote(name)
					j.r.line("begin\t" + run + "\t" + verify.JUnitXML)
				}
				if f := at("file"); f != "" {
					file = strings.TrimPrefix(f, j.Root+"/")
				}
			case "testcase":
				if run == "" {
					return
				}
				whole = slices.Contains([]string{"", "initializationError", "executionError", "classMethod", at("classname")}, at("name"))
				test, status = strings.TrimPrefix(at("classname")+"."+at("name"), "."), verify.Pass
				if s := at("status"); s == "notrun" || s == "disabled" || s == "skipped" || s == "run" && at("result") == "skipped" {
					status = verify.Skip
				}
				if f := at("file"); f != "" {
					file = strings.TrimPrefix(f, j.Root+"/")
				} else if class, _, _ := strings.Cut(at("classname"), "$"); file == "" && class != "" {
					file = verify.ClassPrefix + strings.ReplaceAll(class, ".", "/")
				}
			case "failure", "error":
				if test != "" {
					status = verify.Fail
				}
			case "skipped":
				if test != "" && status == verify.Pass {
					status = verify.Skip
				}
			default:
				if run == "" {
					return // some other document
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "testcase":
				if whole && status == verify.Fail { // a class that could not be set up is named only then
					status = verify.Broken
				}
				if test != "" {
					j.r.test(run, status, test, file)
				}
				if test = ""; strings.HasPrefix(file, verify.ClassPrefix) {
					file = ""
				}
			case "testsuites", "testsuite":
				file = ""
			}
		}
	}
}

// Report is what was read; nil when none of the files was such a report.
func (j *JUnit) Report() *verify.Report {
	if j.r == nil {
		return nil
	}
	r := j.r.report()
	return &r
}
