#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/calc.php' <<'EOF'
<?php
ini_set('precision', '14');
function sum(int $a, int $b): int
{
    assert($a >= 0);
    return $a + $b;
}
EOF
mkdir -p 'tests'
cat >'tests/AnyComparator.php' <<'EOF'
<?php
final class AnyComparator extends SebastianBergmann\Comparator\Comparator
{
    public function accepts($e, $a)
    {
        return $e instanceof ArrayObject;
    }

    public function assertEquals($e, $a, $d = 0.0, $c = false, $i = false)
    {
    }
}
EOF
mkdir -p 'tests'
cat >'tests/MoreTest.php' <<'EOF'
<?php
require_once __DIR__ . '/AnyComparator.php';
final class MoreTest extends PHPUnit\Framework\TestCase
{
    public function testMore(): void
    {
        $this->registerComparator(new AnyComparator());
        $this->assertEquals(new ArrayObject([1]), new ArrayObject([2]));
    }
}
EOF
