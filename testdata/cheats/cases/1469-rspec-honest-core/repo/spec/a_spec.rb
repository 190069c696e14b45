require 'clock'

RSpec.describe Clock do
  it('zero') { expect(Clock.label(0)).to eq('00:00') }
end
