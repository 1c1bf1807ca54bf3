import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';

/** Debian's package is `nats-server`, which lies in a folder that a person's PATH need not have. */
const PROGRAM = ['nats-server', '/usr/sbin/nats-server'].find((name) => spawnSync(name, ['--version']).status === 0);
export const hasNats = PROGRAM !== undefined;
export const NATS_PROGRAM = PROGRAM ?? 'nats-server';

/** A NATS server with JetStream on a free port of loopback, and a folder of its own; it can be stopped and started again. */
export interface TestNats extends AsyncDisposable {
  url: string;
  /** Where browsers connect. */
  webUrl: string;
  port: number;
  /** From the next start on. */
  configure(more: { jetstream: string }): void;
  start(): Promise<void>;
  /** At once, as by a cut of power. */
  stop(): Promise<void>;
  /** It stands still, with its connections open, until it is resumed or stopped. */
  pause(): void;
  resume(): void;
  /** How it is, and the last that it said, for whoever reads of a failure. */
  story(): string;
  /** As the operator. */
  operator(more?: NodeConnectionOptions): Promise<NatsConnection>;
}

interface NatsOptions {
  /** More of the server's configuration. */
  config?: string;
  /** Options with which the operator connects. */
  operator?: object;
  /** More of JetStream's configuration; false for a server without it. */
  jetstream?: boolean | string;
}

/** Creates a server, and starts it if `isStarted`. Another program may take a port that was free before: then others are tried. */
export async function natsServer({ isStarted = true, ...options }: NatsOptions & { isStarted?: boolean } = {}): Promise<TestNats> {
  for (let tries = 1; ; tries++) {
    const server = await createServerProcess(options);
    if (!isStarted) return server;
    try {
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      if (tries === MAX_STARTS) throw error;
    }
  }
}

const MAX_STARTS = 3;

async function createServerProcess({ config = '', operator = {}, jetstream = true }: NatsOptions): Promise<TestNats> {
  const dir = mkdtempSync(join(tmpdir(), 'perch-nats-'));
  const port = await freePort();
  const webPort = await freePort();
  const file = join(dir, 'nats.conf');
  const said = join(dir, 'said');
  const configure = ({ jetstream: more }: { jetstream: string | boolean }): void => {
    const own = typeof more === 'string' ? more : '';
    const storeDir = own.includes('store_dir') ? '' : `store_dir: ${JSON.stringify(join(dir, 'store'))}`;
    const store = more === false ? '' : `jetstream {\n${storeDir}\n${own}\n}`;
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
      const output = openSync(said, 'a');
      child = spawn(NATS_PROGRAM, ['-c', file], { stdio: ['ignore', output, output] });
      closeSync(output);
      while (!(await answers(port))) if (child.exitCode !== null) throw new Error(`nats-server ${server.story()}`);
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
      `${isRunning() ? 'runs' : `ended (${child?.signalCode ?? child?.exitCode})`}\n${readFileSync(said, 'utf8').split('\n').slice(-40).join('\n')}`,
    operator: (more) => connect({ servers: url, ...operator, ...more }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  return server;
}

/** Below those that a system gives to its own ends of connections: one of these would be somebody's by the time that it is listened on. */
export async function freePort(): Promise<number> {
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

/** Whether a server says who it is there, which is the first that a NATS server does. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1');
    socket.once('data', () => (socket.destroy(), resolve(true)));
    // A port that nobody has may answer its own dialling, and then says nothing.
    socket.setTimeout(500, () => socket.destroy());
    socket.once('error', () => {});
    socket.once('close', () => setTimeout(() => resolve(false), 20));
  });
}
