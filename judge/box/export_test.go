package box

// Gaps is the table of what the means do not stop.
var Gaps = gaps
