import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';

/** Debian's `nats-server` package installs to a folder that may not be on the user's PATH. */
const PROGRAM = ['nats-server', '/usr/sbin/nats-server'].find((name) => spawnSync(name, ['--version']).status === 0);
export const hasNats = PROGRAM !== undefined;
export const NATS_PROGRAM = PROGRAM ?? 'nats-server';

/** A NATS server with JetStream on a free loopback port with its own folder. It can be stopped and restarted. */
export interface TestNats extends AsyncDisposable {
  url: string;
  /** URL for browsers. */
  webUrl: string;
  port: number;
  /** Applies from the next start. */
  configure(settings: { jetstream: string }): void;
  start(): Promise<void>;
  /** Stops it immediately, like a power cut. */
  stop(): Promise<void>;
  /** Suspends the process with its connections open until it is resumed or stopped. */
  pause(): void;
  resume(): void;
  /** State and last output of the server, for failure messages. */
  story(): string;
  /** Connects as the operator. */
  operator(options?: NodeConnectionOptions): Promise<NatsConnection>;
}

interface NatsOptions {
  /** Additional server configuration. */
  config?: string;
  /** Connection options of the operator. */
  operator?: object;
  /** Additional JetStream configuration; false disables JetStream. */
  jetstream?: boolean | string;
}

/** Creates a server, and starts it if `isStarted`. Retries with other ports, since another program may take a free one in the meantime. */
export async function createNatsServer({ isStarted = true, ...options }: NatsOptions & { isStarted?: boolean } = {}): Promise<TestNats> {
  for (let attempts = 1; ; attempts++) {
    const server = await createServerProcess(options);
    if (!isStarted) return server;
    try {
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      if (attempts === MAX_STARTS) throw error;
    }
  }
}

const MAX_STARTS = 3;

async function createServerProcess({ config = '', operator = {}, jetstream = true }: NatsOptions): Promise<TestNats> {
  const dir = mkdtempSync(join(tmpdir(), 'perch-nats-'));
  const port = await findFreePort();
  const webPort = await findFreePort();
  const file = join(dir, 'nats.conf');
  const outputFile = join(dir, 'said');
  const configure = ({ jetstream: more }: { jetstream: string | boolean }): void => {
    const jetstreamConfig = typeof more === 'string' ? more : '';
    const storeDir = jetstreamConfig.includes('store_dir') ? '' : `store_dir: ${JSON.stringify(join(dir, 'store'))}`;
    const store = more === false ? '' : `jetstream {\n${storeDir}\n${jetstreamConfig}\n}`;
    const web = `websocket { listen: "127.0.0.1:${webPort}", no_tls: true }`;
    writeFileSync(file, `listen: "127.0.0.1:${port}"\n${web}\n${store}\n${config}\n`);
  };
  configure({ jetstream });
  let child: ChildProcess | undefined;
  const url = `nats://127.0.0.1:${port}`;
  const isRunning = (): boolean => child?.exitCode === null && child.signalCode === null;
  const server: TestNats = {
    url,
    webUrl: `ws://127.0.0.1:${webPort}`,
    port,
    configure,
    async start() {
      if (isRunning()) return;
      const output = openSync(outputFile, 'a');
      child = spawn(NATS_PROGRAM, ['-c', file], { stdio: ['ignore', output, output] });
      closeSync(output);
      while (!(await hasGreeting(port))) if (child.exitCode !== null) throw new Error(`nats-server ${server.story()}`);
    },
    async stop() {
      if (!child || !isRunning()) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    story: () =>
      `${isRunning() ? 'runs' : `ended (${child?.signalCode ?? child?.exitCode})`}\n${readFileSync(outputFile, 'utf8').split('\n').slice(-40).join('\n')}`,
    operator: (options) => connect({ servers: url, ...operator, ...options }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  return server;
}

/** Returns a free port below the ephemeral range: a port from that range might be assigned to an outgoing connection before it is used. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Whether a server sends a greeting on the port, as NATS servers do first. */
function hasGreeting(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    socket.once('data', () => (socket.destroy(), resolve(true)));
    // A connection to an unused loopback port may connect to itself, and then stays silent.
    socket.setTimeout(500, () => socket.destroy());
    socket.once('error', () => {});
    socket.once('close', () => setTimeout(() => resolve(false), 20));
  });
}
