import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HybridClock } from './hybrid-clock.ts';

test('readings sort in the order they were given, whatever the wall clock does and whatever is received', () => {
  const wall = fc.integer({ min: 0, max: 5_000 });
  const step = fc.oneof(
    wall.map((to) => ({ jump: to })),
    wall.map((to) => ({ remote: to })),
    fc.constant({}),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 1_000;
      const clock = new HybridClock(() => now, 'here');
      let latest = '';
      for (const event of steps) {
        if ('jump' in event) now = event.jump;
        if ('remote' in event) {
          const remote = new HybridClock(() => event.remote, 'there').tick();
          clock.receive(remote);
          if (remote > latest) latest = remote;
        }
        const reading = clock.tick();
        expect(reading > latest).toBe(true);
        latest = reading;
      }
    }),
  );
});

test('a reading follows the wall clock where that goes on', () => {
  let now = 1_000;
  const clock = new HybridClock(() => now, 'here');
  expect([clock.tick(), clock.tick()]).toEqual(['000000000001000-0000-here', '000000000001000-0001-here']);
  now = 1_000.9;
  expect(clock.tick()).toBe('000000000001000-0002-here');
  now = 2_000;
  expect(clock.tick()).toBe('000000000002000-0000-here');
});

test('a full counter carries into the milliseconds', () => {
  const clock = new HybridClock(() => 5, 'here');
  clock.receive('000000000000005-zzzz-there');
  expect(clock.tick()).toBe('000000000000006-0000-here');
});

test('equal readings of two hosts differ by their origin', () => {
  expect(new HybridClock(() => 5, 'a').tick()).not.toBe(new HybridClock(() => 5, 'b').tick());
});

test.each(['', '5-0-x', '000000000000005-0000-', 'yesterday'])('%j is refused as a reading', (text) => {
  expect(() => new HybridClock(() => 5, 'here').receive(text)).toThrow(RangeError);
});
