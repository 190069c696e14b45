require_relative '../lib/calc'

RSpec.describe Calc do
  it 'sums' do
    expect(Calc.sum(1, 2)).to eq(3)
  end
end
