require 'minitest/autorun'
require_relative '../lib/calc'

class TestSum < Minitest::Test
  def test_sum
    assert_equal 3, Calc.sum(1, 2)
  end
end
