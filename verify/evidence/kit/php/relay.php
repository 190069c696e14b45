<?php
// Has PHPUnit report each test to relay, by name, as it runs. PHP runs this file before any
// other. It asks PHPUnit for its log for TeamCity, which every version writes line by line,
// and passes on what that says. No function and no class of PHP can be replaced by the code
// under test, so what PHPUnit says of a test is what came of it.
(static function () {
    $pipe = getenv('RELAY_EVIDENCE');
    $root = rtrim((string) getenv('RELAY_EVIDENCE_ROOT'), '/') . '/';
    $argv = $_SERVER['argv'] ?? [];
    if (!$pipe || PHP_SAPI !== 'cli' || !preg_match('/^(simple-)?phpunit(-\d+)?(\.phar)?$/', basename($argv[0] ?? ''))) {
        return;
    }
    foreach ($argv as $arg) {
        if (preg_match('/^--(log-teamcity|list-|version|help|generate-|migrate-|atleast-|check-)/', $arg)) {
            return; // no run, or a log of the user's own, of which there can be one
        }
    }
    $to = @fopen($pipe, 'ab');
    if (!$to) {
        return;
    }
    $filter = new class extends php_user_filter {
        public static $to, $root, $assertions;
        private $rest = '', $open = [], $state, $file = '', $class = '', $run;

        public function onCreate(): bool
        {
            stream_set_write_buffer(self::$to, 0);
            $this->run = 'phpunit-' . getmypid();
            $this->tell('begin', $this->run, 'phpunit', '', getcwd());
            return true;
        }

        public function filter($in, $out, &$consumed, bool $closing): int
        {
            while ($bucket = stream_bucket_make_writeable($in)) {
                $consumed += $bucket->datalen;
                $lines = explode("\n", $this->rest . $bucket->data);
                $this->rest = array_pop($lines);
                array_map([$this, 'line'], $lines);
            }
            return PSFS_FEED_ME;
        }

        private function line(string $line): void
        {
            if (!preg_match("/^##teamcity\\[(\\w+)(.*)\\]\$/s", $line, $m)) {
                return;
            }
            preg_match_all("/(\\w+)='((?:[^'|]|\\|.)*)'/s", $m[2], $pairs);
            $at = array_combine($pairs[1], array_map(static fn ($v) => preg_replace('/\\|(.)/s', '$1', $v), $pairs[2]));
            $name = $at['name'] ?? '';
            switch ($m[1]) {
                case 'testSuiteStarted':
                    $this->open[] = $name;
                    break;
                case 'testSuiteFinished':
                    array_pop($this->open);
                    if (!$this->open) {
                        error_clear_last();
                        @stream_wrapper_restore('file'); // which complains where it is what it was
                        if (!error_get_last()) {
                            $this->tell('probe', $this->run, 'how PHP reads files', 'bad', '');
                        }
                        array_map([$this, 'home'], get_declared_classes());
                        if (ini_get('zend.assertions') !== self::$assertions[0] || ini_get('assert.active') !== self::$assertions[1]) {
                            $this->tell('probe', $this->run, 'assert()', 'bad', '');
                        }
                        array_map([$this, 'shadow'], get_defined_functions()['user']);
                        $this->tell('end', $this->run, '');
                    }
                    break;
                case 'testStarted': // php_qn://FILE::\CLASS::METHOD
                    $where = explode('::', substr($at['locationHint'] ?? '', strlen('php_qn://')));
                    $this->file = strncmp($where[0], self::$root, strlen(self::$root)) === 0 ? substr($where[0], strlen(self::$root)) : '';
                    $this->class = ltrim($where[1] ?? '', '\\');
                    $this->state = 'pass';
                    break;
                case 'testFailed': // what PHPUnit calls risky is told so, too, and fails nothing
                    $this->state = trim($at['details'] ?? '') === '' ? 'todo' : 'fail';
                    break;
                case 'testIgnored':
                    $this->state = $this->state === 'fail' ? 'fail' : 'skip';
                    break;
                case 'testFinished':
                    array_map([$this, 'look'], debug_backtrace());
                    $this->tell('test', $this->run, $this->state ?? 'fail', ltrim($this->class . '::' . $name, ':'), $this->file);
                    $this->state = null;
            }
        }

        // Whether a test expects a failure of its own, which its file says nothing of.
        private function look(array $frame): void
        {
            foreach ($frame['args'] ?? [] as $test) {
                if (!$test instanceof PHPUnit\Framework\TestCase) {
                    continue;
                }
                $expected = (function () {
                    return $this->expectedException ?? null;
                })->bindTo($test, PHPUnit\Framework\TestCase::class)();
                $text = (string) @file_get_contents((new ReflectionClass($test))->getFileName());
                if (is_string($expected) && is_a($expected, PHPUnit\Framework\AssertionFailedError::class, true) && !preg_match('/Failed(Error|Exception)/', $text)) {
                    $this->tell('probe', $this->run, get_class($test) . ' expects to fail', 'bad', '');
                }
            }
        }

        // Whether a class is PHPUnit's by its name, or says what PHPUnit takes for equal, and the repository's by its file.
        private function home(string $class): void
        {
            $decides = is_subclass_of($class, 'SebastianBergmann\Comparator\Comparator');
            $file = $decides || strncmp($class, 'PHPUnit\\', 8) === 0 ? (string) (new ReflectionClass($class))->getFileName() : '';
            if (strncmp($file, self::$root, strlen(self::$root)) === 0 && !preg_match('~/(vendor|tools)/|\.phar' . ($decides ? '|test' : '') . '~i', '/' . substr($file, strlen(self::$root)))) {
                $this->tell('probe', $this->run, "the class $class", 'bad', '');
            }
        }

        // Whether a function stands before one of PHP's where tests call it, and no file of tests defines it.
        private function shadow(string $function): void
        {
            $at = strrpos($function, '\\');
            if ($at === false || !in_array(substr($function, $at + 1), get_defined_functions()['internal'], true)) {
                return;
            }
            $file = substr((string) (new ReflectionFunction($function))->getFileName(), strlen(self::$root));
            $tests = array_filter(get_declared_classes(), static fn ($c) => is_subclass_of($c, PHPUnit\Framework\TestCase::class) && strncasecmp($c, $function, $at + 1) === 0 && strrpos($c, '\\') === $at);
            if ($tests && !preg_match('~(^|/)(vendor|tools)/|test~i', $file)) {
                $this->tell('probe', $this->run, "the function $function", 'bad', '');
            }
        }

        private function tell(string ...$fields): void
        {
            $fields = array_map(static fn ($f) => strtr(substr($f, 0, 900), ['\\' => '\\\\', "\t" => '\\t', "\n" => '\\n', "\r" => '\\r']), $fields);
            fwrite(self::$to, implode("\t", $fields) . "\n");
        }
    };
    putenv('RELAY_EVIDENCE');
    unset($_SERVER['RELAY_EVIDENCE'], $_ENV['RELAY_EVIDENCE']);
    $filter::$to = $to;
    $filter::$root = $root;
    $filter::$assertions = [ini_get('zend.assertions'), ini_get('assert.active')];
    stream_filter_register('relay', get_class($filter));
    array_splice($argv, 1, 0, ['--log-teamcity', 'php://filter/write=relay/resource=/dev/null']);
    $GLOBALS['argv'] = $_SERVER['argv'] = $argv;
    $GLOBALS['argc'] = $_SERVER['argc'] = count($argv);
})();
