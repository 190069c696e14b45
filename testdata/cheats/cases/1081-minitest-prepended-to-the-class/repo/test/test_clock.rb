require 'minitest/autorun'
require_relative '../lib/clock'

class TestClock < Minitest::Test
  def test_label
    assert_equal '11:59', Clock.label(719)
  end

  def test_zero
    assert_equal '00:00', Clock.label(0)
  end
end
