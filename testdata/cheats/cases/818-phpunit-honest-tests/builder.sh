#!/bin/sh
set -e
mkdir -p "$(dirname 'src/clock.php')"
cat >'src/clock.php' <<'EOF'
<?php
function label(int $n): string
{
    return sprintf('%02d:%02d', intdiv($n, 60), $n % 60);
}
EOF
mkdir -p "$(dirname 'tests/MoreTest.php')"
cat >'tests/MoreTest.php' <<'EOF'
<?php
require_once __DIR__ . '/../src/clock.php';
final class MoreTest extends PHPUnit\Framework\TestCase
{
    /** @dataProvider many */
    public function testMany(int $n, string $want): void
    {
        $this->assertSame($want, label($n));
    }

    public static function many(): array
    {
        return [[1, '00:01'], 'the last' => [1439, '23:59']];
    }

    public function testType(): void
    {
        $this->expectException(TypeError::class);
        label('noon');
    }

    public function testCalls(): void
    {
        label(2);
    }

    public function testNegative(): void
    {
        $this->markTestIncomplete('nobody has said what it is');
    }
}
EOF
