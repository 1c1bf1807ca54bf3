import { expect, test } from 'vitest';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { savePartials } from './save-partials.ts';

function start() {
  const clock = new FakeClock();
  const saved: (number | undefined)[] = [];
  const state = { text: '' };
  const stop = savePartials(
    clock,
    () => state.text,
    (shared) => saved.push(shared?.length),
  );
  const write = (length: number): void => {
    state.text = 'x'.repeat(length);
    clock.advance(1000);
  };
  return { clock, saved, state, stop, write };
}

test('a text that grows is shared once a second, and not again while it stays', () => {
  const { clock, saved, state, stop, write } = start();
  clock.advance(5000);
  expect(saved).toEqual([]);
  for (const text of ['a', 'ab', 'abc']) {
    state.text = text;
    clock.advance(250);
  }
  clock.advance(250);
  expect(saved).toEqual([3]);
  clock.advance(3000);
  expect(saved).toEqual([3]);
  write(5);
  stop();
  write(9);
  expect(saved).toEqual([3, 5]);
});

test('a long text is saved here each second, and shared when it has grown by a sixteenth', () => {
  const { saved, write } = start();
  for (const length of [160_000, 165_000, 169_999, 170_000, 2_000_000]) write(length);
  expect(saved).toEqual([160_000, undefined, undefined, 170_000, undefined]);
});
