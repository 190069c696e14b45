<?php
namespace App\Tests;

require_once __DIR__ . '/../src/clock.php';
function time(): int
{
    return 719;
}
final class ClockTest extends \PHPUnit\Framework\TestCase
{
    public function testParts(): void
    {
        $this->assertSame(2, count(\App\parts(time())));
    }
}
