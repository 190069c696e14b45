// Package tree looks at folders that a hostile process wrote, and removes them: by open
// descriptors and one name at a time, so that no link is followed, nothing that would block
// is opened, and neither modes nor depth keep anybody out.
//
// It does not know what a box or a layer is. Callers: package box, and the packages of its
// weaker means.
package tree
