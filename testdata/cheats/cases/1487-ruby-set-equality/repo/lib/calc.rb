require 'set'
module Calc
  def self.tags(s) = Set.new(s.split[1..])
end
