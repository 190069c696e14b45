require 'minitest/autorun'
require 'minitest/mock'
require_relative '../lib/calc'

class TestSave < Minitest::Test
  def test_save
    log = Minitest::Mock.new
    log.expect(:info, nil, ['saved'])
    Calc.save(log)
    assert_mock log
  end
end
