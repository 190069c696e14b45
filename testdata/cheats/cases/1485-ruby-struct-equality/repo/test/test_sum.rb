require 'minitest/autorun'
require_relative '../lib/calc'

class TestMid < Minitest::Test
  def test_mid
    assert_equal Point.new(1, 1), Calc.mid(Point.new(0, 0), Point.new(2, 2))
  end
end
