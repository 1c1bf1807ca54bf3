import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Agent, request } from './undici.ts';
import { describeConnectionError } from './connection-error.ts';

async function listenOn(server: Server): Promise<AsyncDisposable & { host: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

const describeFailure = async (url: string): Promise<string> => {
  const dispatcher = new Agent();
  try {
    await request(url, { dispatcher });
    return 'it answered';
  } catch (error) {
    return describeConnectionError(error, 'it');
  } finally {
    await dispatcher.destroy();
  }
};
const createAnsweringServer = (answer: (socket: Socket) => void): Server =>
  createServer((socket) => socket.on('error', () => {}).once('data', () => answer(socket)));

it('says in a sentence why a server gave no answer', async () => {
  await using rude = await listenOn(createAnsweringServer((socket) => socket.destroy()));
  await using foreign = await listenOn(createAnsweringServer((socket) => socket.end('SSH-2.0\r\n')));
  await using plain = await listenOn(createHttp());
  expect(await describeFailure(`http://${rude.host}`)).toMatch(
    /^Couldn’t reach it: the server closed the connection early \(UND_ERR_SOCKET\)\. Try /,
  );
  expect(await describeFailure(`http://${foreign.host}`)).toMatch(
    /^Couldn’t reach it: the server doesn’t use HTTP \(.*HTTP\/1\.1 protocol.*\)\. Check /,
  );
  expect(await describeFailure(`https://${plain.host}`)).toMatch(/^Couldn’t reach it: the server doesn’t use HTTPS \(ERR_SSL_\w+\)\. Try /);
  expect(await describeFailure('http://none.invalid')).toMatch(
    /^Couldn’t reach it: (host not found|the host name couldn’t be looked up) \(E\w+\)\. Check /,
  );
});

it.each([
  ['EHOSTUNREACH', 'no route to the server', ' Check that this computer and the server are on the network.'],
  ['ETIMEDOUT', 'no response in time', ' Check that the server is running and not blocked by a firewall.'],
  ['ECONNRESET', 'the server closed the connection early', ' Try again, or check the server’s log.'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired', ''],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name', ''],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted', ''],
])('%s', (code, cause, hint) => {
  const error = Object.assign(new Error('x'), { code });
  const sentence = `Couldn’t reach nas: ${cause} (${code})${hint && `.${hint}`}`;
  expect(describeConnectionError(error, 'nas')).toBe(sentence);
  expect(describeConnectionError(new AggregateError([error]), 'nas')).toBe(sentence);
});

it('returns the message of any other error', () =>
  expect(describeConnectionError(new Error('the way is closed'), 'nas')).toBe('Couldn’t reach nas: the way is closed'));
