require_relative '../lib/calc'

RSpec.describe Calc do
  it 'logs' do
    log = double('log')
    expect(log).to receive(:info).with('saved')
    Calc.save(log)
  end
end
