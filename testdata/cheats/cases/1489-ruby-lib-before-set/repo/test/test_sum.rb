require 'minitest/autorun'
require 'set'
require_relative '../lib/calc'

class TestTags < Minitest::Test
  def test_tags
    assert_equal Set['a', 'b'], Calc.tags('a b')
  end
end
