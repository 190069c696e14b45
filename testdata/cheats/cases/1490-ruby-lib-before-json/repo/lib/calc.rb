module Calc
  def self.report = '{"a": 1}'
end
