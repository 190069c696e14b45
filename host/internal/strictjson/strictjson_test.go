package strictjson

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	got, err := Decode([]byte(` {"a":[1,"\ud83d\ude00é\\u0000",true,null,{"b":-1.5e3}],"A":""} `+"\n"), 1000)
	want := map[string]any{"a": []any{json.Number("1"), `😀é\u0000`, true, nil, map[string]any{"b": json.Number("-1.5e3")}}, "A": ""}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
	deepest := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	for _, s := range []string{"null", "0", `"x"`, "[]", deepest, "1e400", `"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["`} {
		if _, err := Decode([]byte(s), 1000); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                               "empty",
		" \n":                            "empty",
		strings.Repeat("1", 1001):        "1001 bytes",
		"\ufeff{}":                       "byte order mark",
		"```json\n{}\n```":               "code fence",
		"Here is the task: {}":           "line 1, column 1: is not JSON",
		"{}{}":                           "something follows",
		"{} x":                           "line 1, column 4: something follows",
		"{\n  \"a\": 1,\n}":              "line 3, column 1: is not JSON",
		`{"a":1`:                         "cut off",
		`{"a":NaN}`:                      "is not JSON",
		`{"a":1 /*x*/}`:                  "is not JSON",
		"{'a':1}":                        "is not JSON",
		"{\"a\":\"\xff\"}":               "line 1, column 7: a byte that is not valid UTF-8",
		"{\"a\":\"\x00\"}":               "is not JSON",
		`"\u0000"`:                       `\u0000`,
		`"\ud800"`:                       "surrogate",
		`"\ud800x"`:                      "surrogate",
		`"\ud800\u0041"`:                 "surrogate",
		`"\udc00"`:                       "surrogate",
		`"\ud83d\ud83d\ude00"`:           "surrogate",
		`{"a":1,"a":2}`:                  "a: the key appears twice",
		`{"a":1,"\u0061":2}`:             "a: the key appears twice",
		`{"x":[{},{"é":{"b":1,"b":2}}]}`: `x[1]["é"].b: the key appears twice`,
		strings.Repeat("[", 33) + strings.Repeat("]", 33): "more than 32 deep",
		strings.Repeat("[", 1000):                         "more than 32 deep",
		`{"a":1e999999999}`:                               "number",
		`[-1E-401]`:                                       "number",
		`[` + strings.Repeat("9", 65) + `]`:               "number",
		`01`:                                              "something follows",
		`tru`:                                             "is not JSON",
	}
	for s, want := range tests {
		v, err := Decode([]byte(s), 1000)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want an error with %q", s, v, err, want)
		}
	}
}

// Hostile documents cost what their size does.
func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		strings.Repeat("[", MaxBytes),
		strings.Repeat(`"\`, MaxBytes/2),
		strings.Repeat("\n", MaxBytes-1) + "x",
		`{` + strings.Repeat(`"a":1,`, MaxBytes/6-1) + `"a":1}`,
		strings.Repeat("1e1,", MaxBytes/4),
	} {
		begin := time.Now()
		if _, err := Decode([]byte(s), MaxBytes); err == nil {
			t.Errorf("%.20q is taken", s)
		}
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("%.20q took %v", s, d)
		}
	}
}

type inner struct {
	Scope string `json:"scope"`
}

type sample struct {
	inner
	Kind   string           `json:"task_kind"`
	N      int              `json:"n"`
	List   []inner          `json:"list"`
	Map    map[string]inner `json:"map"`
	Ptr    *inner           `json:"ptr,omitempty"`
	Raw    json.RawMessage  `json:"raw"`
	Any    any              `json:"any"`
	When   time.Time        `json:"when"`
	Hidden string           `json:"-"`
	Plain  string
	Meta   map[string]string `json:"meta"`
}

func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var got sample
	err := Unmarshal([]byte(`{"scope":"s","task_kind":"k","n":3,"list":[{"scope":"a"}],"map":{"X":{"scope":"b"}},"ptr":{"scope":"c"},
		"raw":{"Any":1},"any":{"Any":[]},"when":"2026-01-02T03:04:05Z","Plain":"p","meta":{"K":"v"}}`), &got)
	if err != nil || got.Scope != "s" || got.N != 3 || got.Map["X"].Scope != "b" || got.Ptr.Scope != "c" || string(got.Raw) != `{"Any":1}` || got.When.Year() != 2026 || got.Plain != "p" {
		t.Errorf("%+v, %v", got, err)
	}
	for s, want := range map[string]string{
		`{"Scope":"s"}`:              "Scope: is not a key",
		`{"ſcope":"s"}`:              `["ſcope"]: is not a key`,
		"{\"tas\u212a_kind\":\"s\"}": "is not a key",
		`{"list":[{},{"SCOPE":1}]}`:  "list[1].SCOPE: is not a key",
		`{"map":{"x":{"y":1}}}`:      "map.x.y: is not a key",
		`{"ptr":{"x":1}}`:            "ptr.x: is not a key",
		`{"Hidden":"x"}`:             "Hidden: is not a key",
		`{"-":"x"}`:                  "is not a key",
		`{"plain":"x"}`:              "plain: is not a key",
		`{"n":"3"}`:                  "n: must be a whole number",
		`{"n":1.5}`:                  "n: must be a whole number",
		`{"n":99999999999999999999}`: "n: must be a whole number",
		`{"list":{}}`:                "list: must be an array, not object",
		`{"list":[{"scope":1}]}`:     "scope: must be a string",
		`[]`:                         "must be an object",
		`{"n":1}{}`:                  "something follows",
	} {
		var v sample
		if err := Unmarshal([]byte(s), &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", s, err, want)
		}
	}
	got = sample{}
	if err := UnmarshalOpen([]byte(`{"scope":"s","later":{"SCOPE":1},"list":[{"more":1}]}`), &got); err != nil || got.Scope != "s" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, s := range []string{`{"Scope":"s"}`, "{\"tas\u212a_kind\":\"s\"}", `{"list":[{},{"SCOPE":"s"}]}`, `{"n":"3"}`, `{"n":1,"n":1}`} {
		if err := UnmarshalOpen([]byte(s), &got); err == nil {
			t.Errorf("takes %s", s)
		}
	}
	if err := Unmarshal([]byte("{}"), sample{}); err == nil {
		t.Error("decodes into a value")
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"\ud83d\ude00"],"b":null}`, `{"a":1,"\u0061":2}`, `[[[]]]`, `"\ud800"`, "{}{}", "1e999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Decode(b, 1<<16)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Reason == "" || len(err.Error()) > 3000 {
				t.Fatalf("%q: %#v", b, err)
			}
			return
		}
		// What is taken is what the standard reader takes, value by value.
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(v, want) {
			t.Fatalf("%q: %#v, standard %#v %v", b, v, want, err)
		}
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Decode(out, 1<<20); err != nil || !reflect.DeepEqual(v, again) {
			t.Fatalf("%q: %v after a round trip", b, err)
		}
	})
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"scope":"s","n":3,"list":[{"scope":"a"}],"raw":{}}`))
	f.Add([]byte(`{"Scope":"s"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v sample
		if Unmarshal(b, &v) != nil {
			return
		}
		var loose sample
		if err := json.Unmarshal(b, &loose); err != nil || !reflect.DeepEqual(v, loose) {
			t.Fatalf("%q: %v", b, err)
		}
	})
}
