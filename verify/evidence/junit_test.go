package evidence

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

// TestJUnit reads reports as Maven's surefire, PHPUnit, ctest and others write them.
func TestJUnit(t *testing.T) {
	read := func(texts ...string) *verify.Report {
		j := JUnit{Root: "/r"}
		for i, text := range texts {
			j.Read("target/TEST-"+string(rune('a'+i))+".xml", strings.NewReader(text))
		}
		return j.Report()
	}
	for _, tt := range []struct {
		name, text string
		want       map[string]verify.Test
	}{
		{"surefire", `<?xml version="1.0" encoding="UTF-8"?><testsuite name="com.x.A" tests="3"><properties/>
<testcase name="adds" classname="com.x.A" time="0.1"/><testcase name="fails" classname="com.x.A$In"><failure message="m">&lt;</failure><system-out>no testcase</system-out></testcase>
<testcase name="later" classname="com.x.A"><skipped/></testcase></testsuite>`,
			map[string]verify.Test{"com.x.A.adds": {Status: verify.Pass, File: "class:com/x/A"}, "com.x.A$In.fails": {Status: verify.Fail, File: "class:com/x/A"}, "com.x.A.later": {Status: verify.Skip, File: "class:com/x/A"}}},
		{"phpunit", `<testsuites><testsuite name="all"><testsuite name="T" file="/r/tests/T.php"><testcase name="one" file="/r/tests/T.php" class="T" classname="T"/>
<testcase name="two" class="T" classname="T"><error>e</error></testcase></testsuite></testsuite></testsuites>`,
			map[string]verify.Test{"T.one": {Status: verify.Pass, File: "tests/T.php"}, "T.two": {Status: verify.Fail, File: "tests/T.php"}}},
		{"ctest", `<testsuite name="L"><testcase name="a" classname="a" status="run"/><testcase name="b" classname="b" status="disabled"/></testsuite>`,
			map[string]verify.Test{"a.a": {Status: verify.Pass, File: "class:a"}, "b.b": {Status: verify.Skip, File: "class:b"}}},
		{"a class that can't be set up", `<testsuite><testcase name="" classname="x.A"><error/></testcase><testcase name="initializationError" classname="x.B"><failure/></testcase></testsuite>`,
			map[string]verify.Test{"x.A.": {Status: verify.Broken, File: "class:x/A"}, "x.B.initializationError": {Status: verify.Broken, File: "class:x/B"}}},
		{"in latin 1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><testsuite><testcase name=\"\xe4\"/></testsuite>", map[string]verify.Test{"\uFFFD": {Status: verify.Pass, File: ""}}},
		{"with colors", "<testsuite><testcase name='a'><system-out>\x1b[1m</system-out></testcase></testsuite>", map[string]verify.Test{"a": {Status: verify.Pass, File: ""}}},
		{"twice", `<testsuite><testcase name="p"/><testcase name="p"><skipped/></testcase></testsuite>`, map[string]verify.Test{"p": {Status: verify.Pass, File: ""}, "p #2": {Status: verify.Skip, File: ""}}},
	} {
		r := read(tt.text)
		if r == nil || r.Broken != "" || len(r.Early) > 0 || len(r.Tests) != len(tt.want) {
			t.Errorf("%s: %+v", tt.name, r)
			continue
		}
		for name, want := range tt.want {
			if r.Tests[name] != want {
				t.Errorf("%s: %s is %+v, want %+v", tt.name, name, r.Tests[name], want)
			}
		}
	}
	if r := read(`<project><testcase name="a"/></project>`, "no xml", ""); r != nil {
		t.Errorf("other files: %+v", r)
	}
	if r := read(`<testsuite><testcase name="a"/><testcase name="b"/></testsuite>`, `<testsuite><testcase name="c"/><testca`); r.Broken == "" || r.Early["junit"] != 1 || len(r.Tests) != 3 {
		t.Errorf("cut short: %+v", r)
	}
}
