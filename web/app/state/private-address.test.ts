import { expect, it } from 'vitest';
import { isEndpoint, parsePrivateAddress } from './private-address.ts';

it.each([
  ['nas.local', 'nas.local'],
  [' NAS.local:8080 ', 'nas.local:8080'],
  ['http://localhost:5173/admin?a=b#c', 'localhost:5173'],
  ['localhost:80', 'localhost:80'],
  ['0x7f.1', '127.0.0.1'],
  ['[::1]:8080', '[::1]:8080'],
  ['[::1]', '[::1]'],
])('%s is the place %s', (typed, place) => {
  expect(parsePrivateAddress(typed)).toBe(place);
});

it.each(['', '  ', 'ftp://nas', 'me@nas.local', '*.local', 'nas local', 'a,b', 'nas:', 'nas:99999', 'nas:http', '[::1', 'https://'])(
  '"%s" is none',
  (typed) => {
    expect(parsePrivateAddress(typed)).toBeNull();
  },
);

it('takes addresses of browsers, and nothing else for one', () => {
  for (const good of ['http://nas.local:9222', 'wss://grid.example/?token=a']) expect(isEndpoint(good)).toBe(true);
  for (const bad of ['', 'chrome', 'nas.local:9222', 'ftp://nas', 'http://', 'http://a b', '***']) expect(isEndpoint(bad)).toBe(false);
});
