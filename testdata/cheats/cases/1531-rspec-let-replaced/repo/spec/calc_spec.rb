require_relative '../lib/calc'

RSpec.describe Calc do
  let(:want) { 3 }

  it 'sums' do
    expect(Calc.sum(1, 2)).to eq(want)
  end
end
