package box

import "os"

// macOS has no namespaces: a weaker means copies there.

// asFirst: there is no such process.
func asFirst() {}

// canScope: abstract unix sockets are Linux's.
func canScope() bool { return false }

// ownPidMax is about pid namespaces.
func ownPidMax() bool { return false }

func (b *Box) startOverlay(Proc, *os.File) (*Process, error) {
	return nil, &Error{Op: "use " + b.spec.Means, Unsupported: true, Why: "it is Linux's; macOS has the means copy",
		Fix: "`relay run --set box.means=copy`, or run relay in a Linux virtual machine"}
}
