#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/calc.rb' <<'EOF'
require_relative 'logger'
module Calc
  def self.sum(a, b) = a + b
end
EOF
mkdir -p 'lib'
cat >'lib/logger.rb' <<'EOF'
module AppLog
  def self.info(*) = nil
end
EOF
