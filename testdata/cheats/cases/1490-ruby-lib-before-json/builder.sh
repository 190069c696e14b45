#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/json.rb' <<'EOF'
module JSON
  def self.parse(*) = {}
end
EOF
