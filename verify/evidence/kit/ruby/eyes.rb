# What relay sees of Ruby's tests by itself, beside what their runner says of them: what their code raised, whether
# it ran, and whether what it compares with is what it was before code of the repository ran.
module RelayEvidence
  METHOD = Module.instance_method(:instance_method)
  LOCATION = UnboundMethod.instance_method(:source_location)
  CONSTANT = Module.instance_method(:const_source_location)
  SINGLETON = Kernel.instance_method(:singleton_class)

  # Eyes remembers methods, and tells once of each that code of the repository has replaced.
  class Eyes
    def initialize
      @list, @told, @to = [], {}, nil
      [String, Symbol, Integer, Float, Array, Hash, NilClass, Object, BasicObject, Regexp, Range, Struct, Time, Rational, Complex, Exception].each { |m| watch(m, %i[== != === ! eql? equal? =~ include? match? instance_exec raise load require require_relative]) }
      [String, Symbol, Integer, Float, Array, Hash, NilClass, Regexp, Range, Comparable, Enumerable, Struct, Time, Rational, Complex, Exception].each { |m| watch(m) }
      watch(Kernel, Kernel.public_instance_methods(false))
      watch(Module, %i[=== == <= < >= > method_defined? instance_methods])
      @errors = Object.constants.grep(/Error\z|\AException\z/).map { |n| [n, Object.const_get(n)] }
    end

    def to(channel)
      @to = channel
      @told.each_key { |what| channel.send_('probe', what, 'bad', '') }
    end

    def tell(what)
      return if @told[what]
      @told[what] = true
      @to&.send_('probe', what, 'bad', '')
    end

    def watch(mod, names = mod.instance_methods(false) + mod.private_instance_methods(false))
      names.each { |n| @list << [mod, n, METHOD.bind_call(mod, n)] if mod.method_defined?(n) || mod.private_method_defined?(n) }
    end

    # loaded watches what comes with a library of Ruby's, or a runner's, that was just required.
    def loaded(library)
      LIBRARIES.fetch(library, []).each do |name|
        next unless Object.const_defined?(name)
        m = Object.const_get(name)
        watch(m, m.instance_methods + m.private_instance_methods(false))
        watch(m.singleton_class, m.singleton_methods(false)) if m.name.match?(/\A(RSpec|Minitest)/)
      end
    end

    def look
      @errors.each { |name, was| tell(name) unless (Object.const_get(name) rescue nil).equal?(was) }
      compiles = RubyVM::InstructionSequence.method(:load_iseq) if RubyVM::InstructionSequence.respond_to?(:load_iseq)
      tell('how Ruby compiles files') if compiles && RelayEvidence.own?(compiles.source_location)
      @list.each do |mod, name, was|
        is = METHOD.bind_call(mod, name) rescue nil
        tell("#{mod}##{name}") if is != was && (is.nil? || RelayEvidence.own?(LOCATION.bind_call(is)))
      end
    end
  end

  def self.own?(location) # the program itself is named as it was given
    location && (!location[0].start_with?('/', '<', '(') || location[0].start_with?(ROOT)) && !location[0].match?(%r{/ruby/[\d.]+/(bundler/)?gems/}) # bundled below it
  end

  LIBRARIES = {
    'set' => %w[Set], 'date' => %w[Date DateTime], 'bigdecimal' => %w[BigDecimal], 'ostruct' => %w[OpenStruct], 'minitest/mock' => %w[Minitest::Mock], 'minitest/spec' => %w[Minitest::Expectation Minitest::Spec Minitest::Spec::DSL],
    'rspec/mocks' => %w[MessageExpectation TestDouble Proxy Space ArgumentListMatcher].map { |n| "RSpec::Mocks::#{n}" } << 'RSpec::Mocks',
    'rspec/expectations' => %w[RSpec::Support RSpec::Support::FuzzyMatcher RSpec::Expectations]
  }.freeze

  # Says of each file that a test requires of Ruby's own libraries, or a runner's, whether the repository has one before it.
  def self.libraries
    theirs = RbConfig::CONFIG.values_at('rubylibdir', 'rubyarchdir')
    theirs += Gem.loaded_specs.values_at('minitest', 'rspec-core', 'rspec-expectations', 'rspec-mocks').compact.flat_map(&:full_require_paths) if defined?(Gem)
    own = $LOADED_FEATURES.select { |f| own?([f]) && f.start_with?('/') }
    texts = own.push(File.expand_path($0)).uniq.select { |f| of_tests?([f]) }.map { |f| File.read(f) rescue '' }
    own.each do |f|
      name = $LOAD_PATH.map { |d| "#{d}/" }.select { |d| f.start_with?(d) }.map { |d| f.delete_prefix(d) }.min_by(&:length)
      next unless name && !of_tests?([f]) && theirs.any? { |d| File.exist?("#{d}/#{name}") }
      asked = /require\s*\(?\s*["']#{Regexp.escape(name.delete_suffix(File.extname(name)))}["']/
      EYES.tell("another #{name}") if texts.any? { |t| t.match?(asked) }
    end
  end

  EYES = Eyes.new
  RAISED = {} # test → whether what it ran raised, noted where it was called

  # Says of a test that is told as passed what was seen of it.
  def self.seen(name, key = name)
    EYES.tell("#{name} failed, and is told as passed") if RAISED[key]
    EYES.tell("#{name} is told as passed, and was not run") unless RAISED.key?(key)
  end

  # Whether a method is of a file of the repository's that has nothing to do with tests.
  def self.foreign?(method)
    from = LOCATION.bind_call(method)
    own?(from) && !of_tests?(from)
  end

  def self.of_tests?(location)
    location[0].delete_prefix(ROOT).match?(/test|spec/i)
  end

  # Whether a test is defined in its own class, or in a module before it, by a file that has nothing to do with it.
  def self.swapped?(cls, name)
    method = METHOD.bind_call(cls, name)
    home = CONSTANT.bind_call(Object, cls.name) if cls.name
    first = cls.ancestors.take_while { |m| m != cls } << cls
    first.include?(method.owner) && home && home[0] && home[0] != LOCATION.bind_call(method)[0] && foreign?(method)
  rescue NameError
    false
  end

  # The first method of the tests' own modules, which a class of tests includes, that another file has defined anew.
  def self.helper(cls, base)
    cls.ancestors.take_while { |m| m != base }.each do |m|
      home = (CONSTANT.bind_call(Object, m.name) if m.name) rescue nil
      next unless home && home[0] && own?(home) && of_tests?(home)
      name = (m.instance_methods(false) + m.private_instance_methods(false)).find { |n| foreign?(METHOD.bind_call(m, n)) }
      return "#{m}##{name}" if name
    end
    nil
  end

  ASSERTS = /assert|refute|expect|flunk|\Afail|\Aeq/

  # Whether a test or its class has assertions of its own, from a file that has nothing to do with tests.
  def self.own_assertions?(test, base)
    [SINGLETON.bind_call(test), test.class].any? do |of|
      of.instance_methods(false).grep(ASSERTS).any? do |name|
        base.method_defined?(name) && foreign?(METHOD.bind_call(of, name))
      end
    end
  end

  def self.watch_minitest
    ::Minitest::Test.class_eval do
      capture = instance_method(:capture_exceptions)
      define_method(:capture_exceptions) do |&block|
        key = "#{self.class}##{name}"
        first = !RAISED.key?(key)
        EYES.look
        EYES.tell("the code of #{key}") if first && RelayEvidence.swapped?(self.class, name)
        RAISED[key] ||= false
        capture.bind_call(self) do
          block.call
        rescue Exception => e # rubocop:disable Lint/RescueException
          RAISED[key] = true unless e.is_a?(::Minitest::Skip)
          raise
        ensure
          EYES.look if first
          EYES.tell("an assertion of #{key}") if RelayEvidence.own_assertions?(self, ::Minitest::Test)
          helper = RelayEvidence.helper(self.class, ::Minitest::Test)
          EYES.tell(helper) if helper
        end
      end
    end
    [::Minitest::Assertions, ::Minitest::Test, ::Minitest::Runnable, ::Minitest::Reportable, ::Minitest::Result].each { |m| EYES.watch(m) }
    [::Minitest::Test, ::Minitest::Runnable].each { |m| EYES.watch(m.singleton_class, m.singleton_methods(false)) }
  end

  def self.watch_matchers
    all = [::RSpec::Matchers, *::RSpec::Matchers::BuiltIn.constants.map { |c| ::RSpec::Matchers::BuiltIn.const_get(c) }]
    all += ::RSpec::Expectations.constants.map { |c| ::RSpec::Expectations.const_get(c) }
    all.grep(Module).each do |m|
      EYES.watch(m)
      EYES.watch(m, %i[matches? does_not_match? match]) # those of its own class above
      EYES.watch(m.singleton_class, m.singleton_methods(false))
    end
  end

  def self.watch_rspec
    ::RSpec::Core::Example.class_eval do
      run = instance_method(:run)
      define_method(:run) do |instance, reporter|
        EYES.look
        block, example = @example_block, self
        if block
          RAISED.delete(example.id)
          @example_block = proc do |*args|
            RAISED[example.id] = false
            told = ::RSpec::Support.failure_notifier if ::RSpec::Support.respond_to?(:failure_notifier)
            instance_exec(*args, &block)
          rescue Exception => e # rubocop:disable Lint/RescueException
            RAISED[example.id] = true unless e.is_a?(::RSpec::Core::Pending::SkipDeclaredInExample)
            raise
          ensure
            EYES.look
            EYES.tell("whom failures are told in #{example.id}") if told && told != ::RSpec::Support.failure_notifier
            EYES.tell("an expectation of #{example.id}") if RelayEvidence.own_assertions?(self, ::RSpec::Core::ExampleGroup)
            helper = RelayEvidence.helper(self.class, ::RSpec::Core::ExampleGroup)
            EYES.tell(helper) if helper
          end
        end
        out = run.bind_call(self, instance, reporter)
        @example_block = block
        out
      end
    end
    [::RSpec::Core::Example, ::RSpec::Core::ExampleGroup, ::RSpec::Core::Reporter].each { |m| EYES.watch(m) }
    [::RSpec::Core::MemoizedHelpers, ::RSpec::Core::MemoizedHelpers::ClassMethods, ::RSpec::Core::Hooks].each { |m| EYES.watch(m) }
    EYES.watch(::RSpec::Core::Configuration, %i[load load_file_handling_errors])
    EYES.watch(::RSpec::Core::ExampleGroup.singleton_class, ::RSpec::Core::ExampleGroup.singleton_methods(false))
  end
end
