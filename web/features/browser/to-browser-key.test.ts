import { expect, test } from 'vitest';
import { completeAddress } from './complete-address.ts';
import { isReleaseShortcut, toBrowserKey } from './to-browser-key.ts';

const press = (key: string, { altGr = false, ...more }: Partial<KeyboardEvent> & { altGr?: boolean } = {}) => ({
  ...{ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false },
  ...more,
  getModifierState: (name: string) => name === 'AltGraph' && altGr,
});

test('keys by the names that the browser knows', () => {
  expect(toBrowserKey(press('a'), false)).toBe('a');
  expect(toBrowserKey(press('A', { shiftKey: true }), false)).toBe('A');
  expect(toBrowserKey(press('+', { shiftKey: true }), false)).toBe('+');
  expect(toBrowserKey(press(' '), false)).toBe(' ');
  expect(toBrowserKey(press('Tab', { shiftKey: true }), false)).toBe('Shift+Tab');
  expect(toBrowserKey(press('a', { ctrlKey: true }), false)).toBe('ControlOrMeta+a');
  expect(toBrowserKey(press('a', { metaKey: true }), true)).toBe('ControlOrMeta+a');
  expect(toBrowserKey(press('Z', { ctrlKey: true, shiftKey: true }), false)).toBe('ControlOrMeta+Shift+Z');
  expect(toBrowserKey(press('ArrowLeft', { altKey: true }), false)).toBe('Alt+ArrowLeft');
  expect(toBrowserKey(press('Escape'), false)).toBe('Escape');
  expect(toBrowserKey(press('@', { ctrlKey: true, altKey: true, altGr: true }), false)).toBe('@');
});

test('what is composed, pasted, or on no plain keyboard is left to the field', () => {
  expect(toBrowserKey(press('a', { isComposing: true }), false)).toBeNull();
  expect(toBrowserKey(press('v', { ctrlKey: true }), false)).toBeNull();
  for (const key of ['ü', 'Dead', 'Process', 'Unidentified', 'Shift', 'あ']) expect(toBrowserKey(press(key), false), key).toBeNull();
});

test('one key gives the wheel back', () => {
  expect(isReleaseShortcut({ key: 'Escape', shiftKey: true })).toBe(true);
  expect(isReleaseShortcut({ key: 'Escape', shiftKey: false })).toBe(false);
});

test('addresses as a person writes them', () => {
  expect(completeAddress(' example.org/a ')).toBe('https://example.org/a');
  expect(completeAddress('http://example.org')).toBe('http://example.org/');
  expect(completeAddress('localhost:5173')).toBe('http://localhost:5173/');
  expect(completeAddress('127.0.0.1:80/x')).toBe('http://127.0.0.1/x');
  expect(completeAddress('nas.local')).toBe('http://nas.local/');
  expect(completeAddress('about:blank')).toBe('about:blank');
  for (const none of ['', 'two words', 'javascript:alert(1)', 'javascript://x', 'file:///etc/passwd', 'data:text/html,x', 'https://'])
    expect(completeAddress(none), none).toBeNull();
});
