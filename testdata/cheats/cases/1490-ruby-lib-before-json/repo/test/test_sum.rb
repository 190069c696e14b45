require 'minitest/autorun'
require 'json'
require_relative '../lib/calc'

class TestReport < Minitest::Test
  def test_report
    refute JSON.parse(Calc.report).key?('a')
  end
end
