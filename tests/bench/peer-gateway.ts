import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface PeerGateway extends AsyncDisposable {
  url: string;
  headers: Record<string, string>;
}

const PEER_PROGRAM = join(import.meta.dirname, '../../node_modules/@portkey-ai/gateway/build/start-server.js');

/** A well-known gateway in Node, in a separate process, in front of the same upstream. */
export async function startPeer(upstreamPort: number): Promise<PeerGateway> {
  const port = await freePort();
  const child = spawn(process.execPath, [PEER_PROGRAM, `--port=${port}`, '--headless'], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the peer ended (${String(code)})`)));
  ended.catch(() => {});
  const answers = async (): Promise<void> => {
    while (
      !(await fetch(url).then(
        (response) => response.ok,
        () => false,
      ))
    )
      await new Promise((retry) => setTimeout(retry, 50));
  };
  await Promise.race([answers(), ended]);
  return {
    url: `${url}/v1/chat/completions`,
    headers: {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      authorization: 'Bearer none',
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}
