import { expect, test } from 'vitest';
import { keysOf, shortcutOf } from './shortcuts.ts';

const press = (key: string, held: string = '', code = '') => ({
  key,
  code,
  ctrlKey: held.includes('ctrl'),
  metaKey: held.includes('meta'),
  shiftKey: held.includes('shift'),
  altKey: held.includes('alt'),
});

test.each([
  [press('O', 'ctrl shift'), 'newChat'],
  [press('k', 'ctrl'), 'search'],
  [press('b', 'ctrl'), 'sidebar'],
  [press('M', 'ctrl shift'), 'models'],
  [press('/', 'ctrl'), 'help'],
  [press(',', 'ctrl'), 'settings'],
  [press('Escape'), 'stop'],
  [press('Escape', 'shift'), 'focus'],
  [press(':', 'ctrl shift', 'Semicolon'), 'copyCode'],
  [press('b'), null],
  [press('b', 'ctrl alt'), null],
  [press('b', 'meta'), null],
  [press('r', 'ctrl'), null],
])('%o is %s', (event, name) => {
  expect(shortcutOf(event, false)).toBe(name);
});

test('on machines of Apple Mod is Cmd', () => {
  expect(shortcutOf(press('b', 'meta'), true)).toBe('sidebar');
  expect(shortcutOf(press('b', 'ctrl'), true)).toBeNull();
  expect(keysOf('newChat', true)).toEqual(['⌘', '⇧', 'O']);
});
