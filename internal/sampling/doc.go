// Package sampling says which part of a long list of cases a run of the tests takes. Tests and
// benchmarks call it; it knows nothing of the cases.
package sampling
