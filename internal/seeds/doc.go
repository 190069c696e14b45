// Command seeds prints the requirements that relay is built from, each with what relay
// makes of it: works, deviates with the reason, or missing, and the script in
// testdata/script that holds it. It decides nothing and runs no script; make seeds calls it.
package main
