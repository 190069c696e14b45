module Calc
  def self.sum(a, b)
    a - b
  end
end
