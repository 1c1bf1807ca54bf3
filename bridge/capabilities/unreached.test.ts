import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Agent, request } from './undici.ts';
import { unreached } from './unreached.ts';

async function listening(server: Server): Promise<AsyncDisposable & { host: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const told = async (url: string): Promise<string> => {
  const dispatcher = new Agent();
  try {
    await request(url, { dispatcher });
    return 'it answered';
  } catch (error) {
    return unreached(error, 'it');
  } finally {
    await dispatcher.destroy();
  }
};
const answering = (answer: (socket: Socket) => void): Server =>
  createServer((socket) => socket.on('error', () => {}).once('data', () => answer(socket)));

it('says in a sentence why a server gave no answer', async () => {
  await using rude = await listening(answering((socket) => socket.destroy()));
  await using foreign = await listening(answering((socket) => socket.end('SSH-2.0\r\n')));
  await using plain = await listening(createHttp());
  expect(await told(`http://${rude.host}`)).toMatch(/^it cannot be reached: it hung up before its answer was whole; .*\(UND_ERR_SOCKET\)$/);
  expect(await told(`http://${foreign.host}`)).toMatch(
    /^it cannot be reached: what answers there does not speak HTTP; .*HTTP\/1\.1 protocol/,
  );
  expect(await told(`https://${plain.host}`)).toMatch(/^it cannot be reached: what answers there does not speak https; .*\(ERR_SSL_\w+\)$/);
  expect(await told('http://none.invalid')).toMatch(
    /^it cannot be reached: (there is no such name|its name cannot be looked up).*\(E\w+\)$/,
  );
});

it.each([
  ['EHOSTUNREACH', 'there is no way to it from this computer; look whether both are on the network'],
  ['ETIMEDOUT', 'it did not answer in time; look whether it is running, and whether a firewall is between'],
  ['ECONNRESET', 'it hung up before its answer was whole; try again, or look into its own log'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted here'],
])('%s', (code, why) => {
  const error = Object.assign(new Error('x'), { code });
  expect(unreached(error, 'nas')).toBe(`nas cannot be reached: ${why} (${code})`);
  expect(unreached(new AggregateError([error]), 'nas')).toBe(`nas cannot be reached: ${why} (${code})`);
});

it('gives the words of what is none of these', () =>
  expect(unreached(new Error('the way is closed'), 'nas')).toBe('nas could not be asked: the way is closed'));
