import { expect, test } from 'vitest';
import { HostAllowlist } from './web-guard.ts';

test('a place that is named with a port frees that port alone, however it is written', () => {
  for (const place of [
    '127.0.0.1:8080',
    ' 127.0.0.1:8080/ ',
    '127.0.0.1:8080/path?query',
    'http://127.0.0.1:8080',
    '127.0.0.1:8080#there',
  ]) {
    const allowed = new HostAllowlist([place]);
    expect(allowed.has(new URL('http://127.0.0.1:8080/other')), place).toBe(true);
    expect(allowed.has(new URL('http://127.0.0.1:9090')), place).toBe(false);
    expect(allowed.has(new URL('http://127.0.0.1')), place).toBe(false);
  }
  for (const place of ['nas.local', 'https://nas.local/', 'NAS.local.'])
    expect(new HostAllowlist([place]).has(new URL('http://nas.local:9090')), place).toBe(true);
  expect(new HostAllowlist(['[::1]:8080/']).has(new URL('http://[::1]:9090'))).toBe(false);
});
