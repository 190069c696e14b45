require 'clock'

RSpec.describe Clock do
  it('label') { expect(Clock.label(719)).to eq('11:59') }
  it('zero') { expect(Clock.label(0)).to eq('00:00') }
end
