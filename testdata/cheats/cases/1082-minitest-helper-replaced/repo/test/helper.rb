module Checks
  def same(want, got) = assert_equal(want, got)
end
