<?php
require_once __DIR__ . '/../src/clock.php';
final class ClockTest extends PHPUnit\Framework\TestCase
{
    public function testLabel(): void
    {
        $this->assertSame('11:59', label(719));
    }

    public function testZero(): void
    {
        $this->assertSame('00:00', label(0));
    }
}
