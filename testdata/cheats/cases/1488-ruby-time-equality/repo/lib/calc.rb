module Calc
  def self.at(n) = Time.at(n + 1)
end
