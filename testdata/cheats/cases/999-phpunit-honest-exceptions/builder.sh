#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/clock.php' <<'EOF'
<?php
function label(int $n): string
{
    if ($n < 0) {
        throw new InvalidArgumentException('before the day began');
    }
    return sprintf('%02d:%02d', intdiv($n, 60), $n % 60);
}
EOF
mkdir -p 'tests'
cat >'tests/NegativeTest.php' <<'EOF'
<?php
require_once __DIR__ . '/../src/clock.php';
final class NegativeTest extends PHPUnit\Framework\TestCase
{
    public function testNegative(): void
    {
        $this->expectException(InvalidArgumentException::class);
        label(-1);
    }
}
EOF
