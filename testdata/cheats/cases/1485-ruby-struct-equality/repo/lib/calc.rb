Point = Struct.new(:x, :y)
module Calc
  def self.mid(a, b) = Point.new(a.x, b.y)
end
