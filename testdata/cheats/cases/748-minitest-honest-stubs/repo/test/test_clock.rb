require 'minitest/autorun'
require 'minitest/mock'

module Own
  def assert_time(t)
    assert_match(/\A\d\d:\d\d\z/, t)
  end
end
require_relative '../lib/clock'

class TestClock < Minitest::Test
  include Own

  def test_own
    assert_time Clock.label(3)
  end

  def test_stub
    Clock.stub(:label, 'x') { assert_equal 'x', Clock.label(1) }
  end

  def test_raises
    assert_raises(NoMethodError) { Clock.label(nil) }
  end

  def test_later
    skip
  end

  def test_label
    assert_equal '11:59', Clock.label(719)
  end

  def test_zero
    assert_equal '00:00', Clock.label(0)
  end
end
