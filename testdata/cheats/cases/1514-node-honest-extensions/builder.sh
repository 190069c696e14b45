#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/sum.js' <<'EOF'
BigInt.prototype.toJSON = function () { return this.toString() }
Array.prototype.last ??= function () { return this[this.length - 1] }
Symbol.dispose ??= Symbol('dispose')
exports.sum = (a, b) => a + b
EOF
