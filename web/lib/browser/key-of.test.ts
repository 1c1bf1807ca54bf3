import { expect, test } from 'vitest';
import { addressOf } from './address.ts';
import { isLeaving, keyOf } from './key-of.ts';

const pressed = (key: string, { altGr = false, ...more }: Partial<KeyboardEvent> & { altGr?: boolean } = {}) => ({
  ...{ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false },
  ...more,
  getModifierState: (name: string) => name === 'AltGraph' && altGr,
});

test('keys by the names that the browser knows', () => {
  expect(keyOf(pressed('a'), false)).toBe('a');
  expect(keyOf(pressed('A', { shiftKey: true }), false)).toBe('A');
  expect(keyOf(pressed('+', { shiftKey: true }), false)).toBe('+');
  expect(keyOf(pressed(' '), false)).toBe(' ');
  expect(keyOf(pressed('Tab', { shiftKey: true }), false)).toBe('Shift+Tab');
  expect(keyOf(pressed('a', { ctrlKey: true }), false)).toBe('ControlOrMeta+a');
  expect(keyOf(pressed('a', { metaKey: true }), true)).toBe('ControlOrMeta+a');
  expect(keyOf(pressed('Z', { ctrlKey: true, shiftKey: true }), false)).toBe('ControlOrMeta+Shift+Z');
  expect(keyOf(pressed('ArrowLeft', { altKey: true }), false)).toBe('Alt+ArrowLeft');
  expect(keyOf(pressed('Escape'), false)).toBe('Escape');
  expect(keyOf(pressed('@', { ctrlKey: true, altKey: true, altGr: true }), false)).toBe('@');
});

test('what is composed, pasted, or on no plain keyboard is left to the field', () => {
  expect(keyOf(pressed('a', { isComposing: true }), false)).toBeNull();
  expect(keyOf(pressed('v', { ctrlKey: true }), false)).toBeNull();
  for (const key of ['ü', 'Dead', 'Process', 'Unidentified', 'Shift', 'あ']) expect(keyOf(pressed(key), false), key).toBeNull();
});

test('one key gives the wheel back', () => {
  expect(isLeaving({ key: 'Escape', shiftKey: true })).toBe(true);
  expect(isLeaving({ key: 'Escape', shiftKey: false })).toBe(false);
});

test('addresses as a person writes them', () => {
  expect(addressOf(' example.org/a ')).toBe('https://example.org/a');
  expect(addressOf('http://example.org')).toBe('http://example.org/');
  expect(addressOf('localhost:5173')).toBe('http://localhost:5173/');
  expect(addressOf('127.0.0.1:80/x')).toBe('http://127.0.0.1/x');
  expect(addressOf('nas.local')).toBe('http://nas.local/');
  expect(addressOf('about:blank')).toBe('about:blank');
  for (const none of ['', 'two words', 'javascript:alert(1)', 'javascript://x', 'file:///etc/passwd', 'data:text/html,x', 'https://'])
    expect(addressOf(none), none).toBeNull();
});
