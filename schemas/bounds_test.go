package schemas

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// layers is a schema whose n-th definition applies the one below it ten times, by how.
func layers(n int, how string) string {
	var defs []string
	for i := 1; i <= n; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/x%d"}`, i-1)
		defs = append(defs, fmt.Sprintf(`"x%d":`, i)+strings.ReplaceAll(how, "@", strings.Repeat(ref+",", 9)+ref))
	}
	return fmt.Sprintf(`{"$defs":{"x0":{"type":"string"},%s},"properties":{"a":{"$ref":"#/$defs/x%d"}}}`, strings.Join(defs, ","), n)
}

// A schema of a stranger's costs the host little, to read and to apply, or it is refused.
func TestForeignSchemasAreBounded(t *testing.T) {
	most := strings.Repeat("a{1000}", 400)
	for name, c := range map[string]struct{ schema, value, want string }{
		"all of each other":     {layers(12, `{"allOf":[@]}`), "", "more than 10000 schemas"},
		"any of each other":     {layers(12, `{"anyOf":[@]}`), "", "more than 10000 schemas"},
		"one of, deeper":        {layers(12, `{"oneOf":[{"items":{"oneOf":[@]}}]}`), "", "more than 10000 schemas"},
		"by patterns of names":  {layers(5, `{"patternProperties":{"a":{"allOf":[@]},"b":{"allOf":[@]},"c":{"allOf":[@]}}}`), "", "more than 10000 schemas"},
		"by what a name asks":   {layers(12, `{"dependentSchemas":{"a":{"allOf":[@]}}}`), "", "more than 10000 schemas"},
		"a circle":              {`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "", "without end"},
		"itself":                {`{"$ref":"#"}`, "", "without end"},
		"itself in each part":   {`{"items":{"$ref":"#"},"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, "", "more than 10000 schemas"},
		"decided when applied":  {`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, "", "$dynamicRef"},
		"a long pattern":        {`{"pattern":"` + strings.Repeat("a", 5000) + `"}`, "", "5000 bytes"},
		"large patterns":        {`{"allOf":[{"pattern":"` + most + `"},{"pattern":"b` + most + `"},{"pattern":"c` + most + `"}]}`, "", "too large"},
		"large names":           {`{"patternProperties":{"` + most + `":{},"b` + most + `":{},"c` + most + `":{}}}`, "", "too large"},
		"a tree":                {`{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"},"name":{"type":"string"}},"additionalProperties":false}`, `{"left":{"left":{"name":"x"}}}`, ""},
		"one pattern, often":    {`{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"^a{1,1000}$"},`, 2000), ",") + `]}`, `"aaa"`, ""},
		"many fields":           {`{"properties":{` + strings.TrimSuffix(strings.Repeat(`"a":{"type":"string"},`, 1), ",") + `},"additionalProperties":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}`, `{"a":"x","b":{"c":"y"}}`, ""},
		"a choice of subtrees":  {`{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"type":"object","additionalProperties":{"$ref":"#"}}]}`, `[["a"],{"b":"c"}]`, ""},
		"items with a place":    {`{"prefixItems":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"items":false,"$defs":{"a":{"enum":[1,2]}}}`, `[1,2]`, ""},
		"nothing but yes or no": {`true`, `1`, ""},
	} {
		begun := time.Now()
		s, err := Compile([]byte(c.schema))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want it to contain %q", name, err, c.want)
		}
		if c.want == "" && err == nil {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(c.value))
			if err == nil {
				err = s.Validate(v)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}
