require 'minitest/autorun'
require_relative '../lib/calc'

describe Calc do
  it 'sums' do
    _(Calc.sum(1, 2)).must_equal 3
  end
end
