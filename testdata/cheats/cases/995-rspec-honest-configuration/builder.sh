#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/roman.rb' <<'EOF'
module Roman
  TABLE = { 1000 => "M", 900 => "CM", 500 => "D", 400 => "CD", 100 => "C", 90 => "XC", 50 => "L", 40 => "XL", 10 => "X",
            9 => "IX", 5 => "V", 4 => "IV", 1 => "I" }.freeze

  def self.format(n)
    TABLE.reduce("") do |out, (v, s)|
      out += s * (n / v)
      n %= v
      out
    end
  end
end
EOF
mkdir -p 'spec'
cat >'spec/more_spec.rb' <<'EOF'
require "roman"

RSpec::Matchers.define(:be_roman) { match { |text| text.match?(/\A[IVXLCDM]+\z/) } }

RSpec.describe Roman, :aggregate_failures do
  it("signs") do
    expect(Roman.format(44)).to be_roman
    expect(Roman.format(44)).to eq("XLIV")
  end
end
EOF
