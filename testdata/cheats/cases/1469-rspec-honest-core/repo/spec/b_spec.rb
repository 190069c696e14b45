require 'clock'

RSpec.describe 'label' do
  it('noon') { expect(Clock.label(719)).to eq('11:59') }
end
