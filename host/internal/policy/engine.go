package policy

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
)

// Costs are in CEL's units, about one for each step. What a rule can cost at most is known
// from its text for changes of ordinary size; such rules run without being counted, which
// takes a third of the time. All others are counted while they run, and stopped.
const (
	maxCost      = 100_000    // of one rule
	maxEstimated = 20_000_000 // of all that run without being counted
	maxCounted   = 2_000_000  // of all that are counted

	ordinaryList, ordinaryText = 1000, 400 // entries and bytes
)

// maxTime is for all rules, where CEL's units say too little.
var maxTime = 10 * time.Second

// program is a compiled expression.
type program struct {
	estimate uint64
	counts   bool // it asks for approvals, so that a yes is one and does not settle it
	quick    cel.Program
	counted  func() (cel.Program, error)
}

var errTooLong = errors.New("the policy as a whole takes too long")

var environment = sync.OnceValues(func() (*cel.Env, error) {
	opts := []cel.EnvOption{cel.CustomTypeProvider(words()), cel.ParserRecursionLimit(100), cel.ParserExpressionSizeLimit(20_000),
		cel.ASTValidators(cel.ValidateRegexLiterals())}
	for _, f := range words().of["input"] {
		opts = append(opts, cel.Variable(f.name, f.t))
	}
	return cel.NewEnv(opts...)
})

// compile makes the program of a rule.
func (r *rule) compile() error {
	env, err := environment()
	if err != nil {
		return err
	}
	checked, issues := env.Compile(r.expression)
	if issues.Err() != nil {
		e := issues.Errors()[0]
		return wrong(r.file, r.line+max(e.Location.Line()-1, 0), "%s: %s", r.name, oneLine(e.Message))
	}
	if checked.OutputType() != cel.BoolType {
		return wrong(r.file, r.line, "%s: the expression is of type %s; it has to be true or false", r.name, checked.OutputType())
	}
	r.counts = reads(checked, "approvals", "approvers")
	cost, err := env.EstimateCost(checked, ordinary{})
	if err != nil {
		cost.Max = math.MaxUint64
	}
	r.estimate = cost.Max
	r.counted = sync.OnceValues(func() (cel.Program, error) { return env.Program(checked, cel.CostLimit(maxCost)) })
	if r.estimate <= maxCost && !grows(checked) {
		r.quick, err = env.Program(checked)
	}
	return err
}

// grows reports whether an expression can make texts or lists that are longer than those
// it is about: nothing but + does, by itself and in the macros that make lists. What that
// costs can't be told from the text.
func grows(of *cel.Ast) bool {
	root := ast.NavigateAST(of.NativeRep())
	return len(ast.MatchDescendants(root, ast.FunctionMatcher(operators.Add))) > 0
}

// reads reports whether an expression uses one of the words.
func reads(of *cel.Ast, words ...string) bool {
	root := ast.NavigateAST(of.NativeRep())
	return slices.ContainsFunc(ast.MatchDescendants(root, ast.KindMatcher(ast.IdentKind)), func(e ast.NavigableExpr) bool { return slices.Contains(words, e.AsIdent()) })
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ordinary are the sizes for which costs are estimated.
type ordinary struct{}

// EstimateSize bounds a list or a text of the vocabulary.
func (ordinary) EstimateSize(of checker.AstNode) *checker.SizeEstimate {
	if path := of.Path(); len(path) == 0 || !slices.ContainsFunc(words().of["input"], func(f field) bool { return f.name == path[0] }) {
		return nil
	}
	switch of.Type().Kind() {
	case types.ListKind:
		return &checker.SizeEstimate{Max: ordinaryList}
	case types.StringKind:
		return &checker.SizeEstimate{Max: ordinaryText}
	}
	return nil
}

// EstimateCallCost has nothing to add to CEL's own.
func (ordinary) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// facts are an input as the rules see it, with what was spent on it.
type facts struct {
	values             interpreter.Activation
	small              bool // within the ordinary sizes
	estimated, counted uint64
}

func newFacts(in Input) (*facts, error) {
	for _, a := range in.Approvals {
		if a.Key != "" && !slices.Contains(in.Approvers, a.Key) {
			in.Approvers = append(in.Approvers, a.Key)
		}
	}
	of := reflect.ValueOf(in)
	values := map[string]any{}
	for _, f := range words().of["input"] {
		values[f.name] = words().value(of.Field(f.i))
	}
	a, err := interpreter.NewActivation(values)
	return &facts{values: a, small: small(of)}, err
}

// small reports whether every list and text is within the ordinary sizes.
func small(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() <= ordinaryText
	case reflect.Slice:
		if v.Len() > ordinaryList {
			return false
		}
		for i := range v.Len() {
			if !small(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !small(v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// holds reports whether a rule is true of the facts.
func (r *rule) holds(f *facts) (bool, error) {
	if r.quick != nil && f.small && f.estimated+r.estimate <= maxEstimated {
		f.estimated += r.estimate
		v, _, err := r.quick.Eval(f.values)
		return err == nil && v == types.True, err
	}
	if f.counted > maxCounted {
		return false, errTooLong
	}
	counted, err := r.counted()
	if err != nil {
		return false, err
	}
	v, details, err := counted.Eval(f.values)
	if details != nil && details.ActualCost() != nil {
		f.counted += *details.ActualCost()
	}
	return err == nil && v == types.True, err
}
