import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { CommandError } from './command-error.ts';
import { parseTarget } from './gateway-target.ts';

verifies('cli/url-credential', 'an address is that of a WebSocket, of the app, or of a folder behind a proxy', () => {
  for (const [text, ws, http, port] of [
    ['ws://127.0.0.1:7433/ws', 'ws://127.0.0.1:7433/ws', 'http://127.0.0.1:7433', 7433],
    ['http://127.0.0.1:7433/#link=abc', 'ws://127.0.0.1:7433/ws', 'http://127.0.0.1:7433', 7433],
    ['https://perch.example', 'wss://perch.example/ws', 'https://perch.example', 443],
    ['wss://perch.example/a/ws/', 'wss://perch.example/a/ws', 'https://perch.example/a', 443],
    ['https://perch.example/a/', 'wss://perch.example/a/ws', 'https://perch.example/a', 443],
    ['ws://perch.example/socket', 'ws://perch.example/socket', 'http://perch.example/socket', 80],
    ['WS://[::1]:5', 'ws://[::1]:5/ws', 'http://[::1]:5', 5],
  ] as const)
    expect(parseTarget(text)).toMatchObject({ ws, http, port });
});

verifies('cli/url-credential', 'only loopback addresses and localhost are of this machine, however they are written', () => {
  for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.0.0.53', '127.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]'])
    expect({ host, isLocal: parseTarget(`ws://${host}:1/ws`).isLocal }).toEqual({ host, isLocal: true });
  for (const host of [
    ...['0.0.0.0', '192.168.1.2', '127.0.0.1.example', 'localhost.example', 'a.localhost', 'localhost.', '[::]', '[fe80::1]', '128.0.0.1'],
    ...['127.0.0.1.', 'perch.example', '[::ffff:10.0.0.1]'],
  ]) {
    // The URL parser removes an address's trailing dot.
    const expected = host === '127.0.0.1.';
    expect({ host, isLocal: parseTarget(`wss://${host}:1/ws`).isLocal }).toEqual({ host, isLocal: expected });
  }
});

verifies('cli/url-credential', 'an invalid address, or one with a credential, is a usage error', () => {
  for (const text of [
    '',
    'nonsense',
    '127.0.0.1:7433',
    'ftp://a',
    'file:///etc/passwd',
    'ws://127.0.0.1@evil.example',
    'ws://a:b@c',
    'javascript:1',
  ]) {
    const read = (): unknown => parseTarget(text);
    expect(read, text).toThrow(CommandError);
    expect(read).toThrow(expect.objectContaining({ exitCode: 2 }));
  }
});
