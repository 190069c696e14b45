package plugintest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// eachCall gives every call of the evidence to check, until one breaks the rule. What
// unknown fields do to a call is the matter of B5.
func (s *Session) eachCall(check func(*call) error) error {
	if _, err := s.evidence(); err != nil {
		return err
	}
	for _, c := range s.calls {
		if c == s.made.grease {
			continue
		}
		if err := check(c); err != nil {
			return fmt.Errorf("in %q: %w", c.name, err)
		}
	}
	return nil
}

func checkFirstAndLast(s *Session) error {
	return s.eachCall(func(c *call) error {
		for i, e := range c.events {
			switch {
			case i == 0 && e.kind != "started":
				return fmt.Errorf("the first event is %q", e.kind)
			case e.last() && i < len(c.events)-1:
				return fmt.Errorf("after %s comes %s", e.kind, c.events[i+1].kind)
			}
		}
		switch n := len(c.events); {
		case c.cut:
			return nil
		case c.err != nil:
			return fmt.Errorf("it ended with the status %w", c.err)
		case n == 0 || !c.events[n-1].last():
			return fmt.Errorf("it ended after %d events without completed or failure", n)
		}
		return nil
	})
}

func checkNumbers(s *Session) error {
	return s.eachCall(func(c *call) error {
		for i, e := range c.events {
			if e.seq != uint64(i+1) {
				return fmt.Errorf("event %d has the number %d", i+1, e.seq)
			}
		}
		return nil
	})
}

func checkUsage(s *Session) error {
	return s.eachCall(func(c *call) error {
		largest := map[protoreflect.Name]int64{}
		for _, e := range c.events {
			if e.usage == nil && !e.last() {
				continue
			}
			m := e.usage.ProtoReflect()
			fields := m.Descriptor().Fields()
			for i := range fields.Len() {
				f := fields.Get(i)
				if f.Kind() != protoreflect.Int64Kind {
					continue
				}
				was, known := largest[f.Name()]
				switch {
				case m.Has(f) && m.Get(f).Int() < was:
					return fmt.Errorf("%s goes from %d to %d in %s", f.Name(), was, m.Get(f).Int(), e.kind)
				case m.Has(f):
					largest[f.Name()] = m.Get(f).Int()
				case known && e.last():
					return fmt.Errorf("%s was %d and is missing in %s", f.Name(), was, e.kind)
				}
			}
		}
		return nil
	})
}

func checkSilence(s *Session) error {
	return s.eachCall(func(c *call) error {
		if c == s.made.big {
			return nil // the transport takes its time
		}
		last := c.start
		for _, e := range c.events {
			if err := over("a silence", e.at.Sub(last), ruleLimits.silence, ruleLimits.slack); err != nil {
				return err
			}
			last = e.at
		}
		return over("a silence", c.end.Sub(last), ruleLimits.silence, ruleLimits.slack)
	})
}

func checkCancel(s *Session) error {
	e, err := s.evidence()
	if err != nil {
		return err
	}
	for _, c := range e.cancelled {
		if err := over(fmt.Sprintf("in %q the return of the handler", c.call.name), c.returned, ruleLimits.cancel, ruleLimits.slack); err != nil {
			return err
		}
		if len(c.left) > 0 {
			return fmt.Errorf("in %q these processes were left: %s", c.call.name, strings.Join(c.left, "; "))
		}
	}
	return nil
}

func checkOutputSchema(s *Session) error {
	if e, err := s.evidence(); err != nil {
		return err
	} else if e.schema == nil {
		return Skip("the plugin does not have the capability output_schema, or no case is a completion")
	}
	return s.eachCall(func(c *call) error {
		done, ok := c.done().(*pluginpb.CompleteDone)
		switch {
		case !ok:
			return nil
		case c.schema == nil && done.GetOutputJson() != nil:
			return errors.New("output_json is set although no schema was asked for")
		case c.schema == nil:
			return nil
		}
		schema, err := compile(c.schema)
		if err != nil {
			return fmt.Errorf("the schema of the case: %w", err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(done.GetOutputJson()))
		if err != nil {
			return fmt.Errorf("output_json is not JSON: %w", err)
		}
		return schema.Validate(value)
	})
}

// compile makes a schema that cannot load anything from anywhere.
func compile(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	const at = "plugin:schema"
	if err := c.AddResource(at, doc); err != nil {
		return nil, err
	}
	return c.Compile(at)
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema is not self-contained: it refers to %s", url)
}

func checkSchema(s *Session) error {
	info := s.getInfo()
	if info.err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	raw := info.first.GetConfigSchemaJson()
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > sdk.MaxConfigSchema {
		return fmt.Errorf("it has %d bytes", len(raw))
	}
	if _, err := compile(raw); err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	if top, _ := doc.(map[string]any); top["$schema"] != nil && top["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		return fmt.Errorf("its $schema is %v", top["$schema"])
	}
	return described(doc, "")
}

// described finds a property without a description, anywhere in a schema.
func described(v any, at string) error {
	switch v := v.(type) {
	case map[string]any:
		for key, sub := range v {
			if key == "properties" && !strings.HasSuffix(at, "/properties") {
				if err := eachProperty(sub, at); err != nil {
					return err
				}
			}
			if key == "enum" || key == "const" || key == "default" || key == "examples" {
				continue // data, not schema
			}
			if err := described(sub, at+"/"+key); err != nil {
				return err
			}
		}
	case []any:
		for i, sub := range v {
			if err := described(sub, fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func eachProperty(properties any, at string) error {
	all, _ := properties.(map[string]any)
	for name, p := range all {
		if schema, ok := p.(map[string]any); ok && schema["description"] == nil {
			return fmt.Errorf("the property %s/%s has no description", at, name)
		}
	}
	return nil
}

// eachFailure gives every failure that was seen to check.
func (s *Session) eachFailure(check func(namedFailure) error) error {
	if _, err := s.evidence(); err != nil && len(s.cfg.Cases) > 0 {
		return err
	}
	for _, n := range s.allFailures() {
		if err := check(n); err != nil {
			return fmt.Errorf("in %q: %w", n.where, err)
		}
	}
	return nil
}

func checkFailureText(s *Session) error {
	return s.eachFailure(func(n namedFailure) error {
		f := n.f
		switch reason := sdk.Reason(f.GetReason()); {
		case f.GetReason() == pluginpb.Failure_REASON_UNSPECIFIED:
			return errors.New("the failure has no reason")
		case f.GetSummary() == "":
			return errors.New("the failure has no summary")
		case len(f.GetSummary()) > 200 || strings.ContainsAny(f.GetSummary(), "\r\n"):
			return fmt.Errorf("the summary is not one line of at most 200 bytes: %.300q", f.GetSummary())
		case reason.UserCanFix() && f.GetFix() == "":
			return fmt.Errorf("%s without a fix: %s", reason, f.GetSummary())
		}
		return nil
	})
}

func checkFailureTimes(s *Session) error {
	return s.eachFailure(func(n namedFailure) error {
		switch n.f.GetReason() {
		case pluginpb.Failure_REASON_RATE_LIMITED:
			if n.f.GetRetryAfter().AsDuration() <= 0 {
				return errors.New("RATE_LIMITED without retry_after")
			}
		case pluginpb.Failure_REASON_QUOTA_EXHAUSTED:
			if n.f.GetResetAt() != nil && !n.f.GetResetAt().AsTime().After(n.at) {
				return fmt.Errorf("QUOTA_EXHAUSTED with the reset_at %v, which is not in the future", n.f.GetResetAt().AsTime())
			}
		}
		return nil
	})
}

func checkFailureEffect(s *Session) error {
	return s.eachFailure(func(n namedFailure) error {
		if n.f.GetEffect() == pluginpb.Failure_EFFECT_UNSPECIFIED {
			return fmt.Errorf("%s without an effect", sdk.Reason(n.f.GetReason()))
		}
		return nil
	})
}
