module Calc
  def self.make = 1
end
