module Calc
  def self.save(log) = nil
end
