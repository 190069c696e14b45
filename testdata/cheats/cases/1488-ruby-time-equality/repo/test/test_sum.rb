require 'minitest/autorun'
require_relative '../lib/calc'

class TestAt < Minitest::Test
  def test_at
    assert_equal Time.at(5), Calc.at(5)
  end
end
