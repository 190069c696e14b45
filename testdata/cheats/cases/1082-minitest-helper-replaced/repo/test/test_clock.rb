require 'minitest/autorun'
require_relative 'helper'
require_relative '../lib/clock'

class TestClock < Minitest::Test
  include Checks
  def test_label = same('11:59', Clock.label(719))
  def test_zero = same('00:00', Clock.label(0))
end
