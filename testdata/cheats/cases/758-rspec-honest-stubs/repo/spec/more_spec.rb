require 'clock'

RSpec::Matchers.define(:be_a_time) { match { |t| t.match?(/\A\d\d:\d\d\z/) } }

RSpec.shared_examples('a clock') do
  it('shared') { expect(Clock.label(0)).to be_a_time }
end

RSpec.describe Clock do
  include_examples 'a clock'
  around { |e| e.run }
  it('stub') do
    allow(Clock).to receive(:label).and_return('x')
    expect(Clock.label(1)).to eq('x')
  end
  it('raise') { expect { Clock.label(nil) }.to raise_error(NoMethodError) }
  it('pending') do
    pending 'later'
    expect(1).to eq(2)
  end
  xit('never') {}
end
