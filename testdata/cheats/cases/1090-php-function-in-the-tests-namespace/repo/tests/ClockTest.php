<?php
namespace App\Tests;

require_once __DIR__ . '/../src/clock.php';
final class ClockTest extends \PHPUnit\Framework\TestCase
{
    public function testParts(): void
    {
        $this->assertSame(2, count(\App\parts(719)));
    }

    public function testZero(): void
    {
        $this->assertIsArray(\App\parts(0));
    }
}
