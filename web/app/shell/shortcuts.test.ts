import { expect, test } from 'vitest';
import { getBoundKeys, toKeyNotation, findShortcut, getBindingError, formatKeys } from './shortcuts.ts';

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
  [press('Enter', 'ctrl alt'), 'allowTool'],
  [press('Backspace', 'ctrl alt'), 'denyTool'],
  [press('л', 'ctrl', 'KeyK'), 'search'],
  [press('Щ', 'ctrl shift', 'KeyO'), 'newChat'],
  [press('و', 'ctrl', 'Comma'), 'settings'],
  [press('ظ', 'ctrl', 'Slash'), 'help'],
  // The M key of a French keyboard, and the key at its position on an English one.
  [press('M', 'ctrl shift', 'Semicolon'), 'models'],
  [press('?', 'ctrl shift', 'KeyM'), 'models'],
  [press('b'), null],
  [press('b', 'ctrl alt'), null],
  [press('b', 'meta'), null],
  [press('r', 'ctrl'), null],
])('%o is %s', (event, name) => {
  expect(findShortcut(event, false)).toBe(name);
});

test('on machines of Apple Mod is Cmd', () => {
  expect(findShortcut(press('b', 'meta'), true)).toBe('sidebar');
  expect(findShortcut(press('b', 'ctrl'), true)).toBeNull();
  expect(formatKeys('Mod+Shift+O', true)).toEqual(['⌘', '⇧', 'O']);
});

test('keys of a person’s own, and none', () => {
  const own = { search: 'Mod+Alt+K', sidebar: null };
  expect(findShortcut(press('˚', 'ctrl alt', 'KeyK'), false, own)).toBe('search');
  expect(findShortcut(press('k', 'ctrl'), false, own)).toBeNull();
  expect(findShortcut(press('b', 'ctrl'), false, own)).toBeNull();
  expect([getBoundKeys('search', own), getBoundKeys('sidebar', own), getBoundKeys('help', own)]).toEqual(['Mod+Alt+K', null, 'Mod+/']);
  expect(toKeyNotation(press('Control', 'ctrl'), false)).toBeNull();
});

test.each([
  ['K', 'Add Ctrl, Cmd or Alt'],
  ['Shift+K', 'Add Ctrl, Cmd or Alt'],
  ['Mod+R', 'Browsers'],
  ['Mod+B', 'for: Show or hide sidebar'],
  ['Mod+K', null],
  ['Mod+Alt+K', null],
  ['F2', null],
])('%s for the search: %s', (keys, why) => {
  const error = getBindingError(keys, 'search', {});
  if (why === null) expect(error).toBeNull();
  else expect(error).toContain(why);
});
