require 'minitest/autorun'
require_relative '../lib/clock'

class TestClock < Minitest::Test
  def test_half
    assert_in_delta 0.5, Clock.half
  end
end
