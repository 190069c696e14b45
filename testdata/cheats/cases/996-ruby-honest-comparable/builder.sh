#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/roman.rb' <<'EOF'
module Roman
  Part = Struct.new(:value, :sign) do
    include Comparable
    def <=>(other) = value <=> other.value
  end

  module Times
    refine String do
      def times(n) = self * n
    end
  end
  using Times

  PARTS = { 1000 => "M", 900 => "CM", 500 => "D", 400 => "CD", 100 => "C", 90 => "XC", 50 => "L", 40 => "XL", 10 => "X",
            9 => "IX", 5 => "V", 4 => "IV", 1 => "I" }.map { |v, s| Part.new(v, s) }.sort.reverse.freeze

  def self.format(n)
    PARTS.reduce("") do |out, part|
      out += part.sign.times(n / part.value)
      n %= part.value
      out
    end
  end
end
EOF
