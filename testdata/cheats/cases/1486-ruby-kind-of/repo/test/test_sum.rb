require 'minitest/autorun'
require_relative '../lib/calc'

class TestMake < Minitest::Test
  def test_make
    assert_kind_of String, Calc.make
  end
end
