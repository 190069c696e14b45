require 'minitest/autorun'
require_relative '../lib/clock'

class TestClock < Minitest::Test
  def test_label
    assert_raises(ArgumentError) { Clock.label(-1) }
  end
end
