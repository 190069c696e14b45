module Clock
  def self.label(n)
    format('%02d:%02d', n / 60, n % 61)
  end
end
