// Package checkcache remembers which checks passed on which tree of a repository, so that
// the base of a tick, which mostly is what the tick before landed and verified, need
// not be checked again.
//
// Only that something passed is remembered, never a failure: a failure that was there
// before is excused, and that has to be seen afresh each time. Memory can thus make a
// verdict stricter and never milder. It lies in relay's own state folder, which no
// builder sees; losing it costs time only, so nothing is fsynced and errors are none.
//
// It runs nothing and knows no task. Caller: host/tick.
package checkcache
