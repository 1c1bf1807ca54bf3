import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFullBrowser, findHostBrowser } from '../../bridge/headless/find-browser.ts';
import { type ConnectParams, GatewayClient, socketLink } from '../../shared/client/index.ts';
import { checkConformance, throwOnMismatches } from '../support/openai-shapes/conformance-check.ts';

const CLI_MAIN = join(import.meta.dirname, '../../bridge/cli/main.ts');

export interface PerchOptions {
  /** Default `auto`: the managed Chromium hosts. */
  host?: 'auto' | 'headless' | 'tab';
  /** Default: a free one, kept through `restart`. */
  port?: number;
  /** An existing PERCH_HOME, which then outlives the gateway. Default: a new one, deleted at the end. */
  home?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** How to start it instead of the checkout's command: program and first arguments. */
  command?: readonly [string, ...string[]];
}

/** The real command as a separate process. */
export interface Perch extends AsyncDisposable {
  /** The canonical origin, `http://127.0.0.1:port`. */
  readonly url: string;
  readonly wsUrl: string;
  /** The app's address with a single-use code. */
  readonly linkUrl: string;
  /** The `curl` that was printed. */
  readonly curl: string;
  /** The owner's token. */
  readonly token: string;
  readonly home: string;
  readonly pid: number;
  /** Standard output and error so far. */
  readonly output: { stdout: string; stderr: string };
  /** `fetch` on the gateway with the owner's token. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A protocol client with its own connection and the owner's token. Close it. */
  client(params?: Partial<ConnectParams>): Promise<GatewayClient>;
  /** A new link, by `perch open`. */
  open(): Promise<string>;
  /** Sends a signal and resolves with the exit code (null: it died of the signal). */
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** Restarts it on the same port and home, ending it first if it is running. */
  restart(): Promise<void>;
}

/** Starts `perch gateway run` and resolves once it serves. Rejects with its output if it exits before. */
export async function startPerch(options: PerchOptions = {}): Promise<Perch> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'perch-home-'));
  const token = (): string => readFileSync(join(home, 'token'), 'utf8').trim();
  let run = await startGatewayProcess(options, home, options.port ?? 0);
  const misfits = new Set<string>();
  const kill = async (signal: NodeJS.Signals): Promise<number | null> => {
    const { child } = run;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  return {
    home,
    get url() {
      return run.url;
    },
    get wsUrl() {
      return run.wsUrl;
    },
    get linkUrl() {
      return run.linkUrl;
    },
    get curl() {
      return run.curl;
    },
    get pid() {
      return run.child.pid ?? 0;
    },
    get output() {
      return run.output;
    },
    get token() {
      return token();
    },
    async fetch(path, { method = 'GET', ...init } = {}) {
      const url = `${run.url}${path}`;
      const headers = { authorization: `Bearer ${token()}`, ...toHeaderRecord(init) };
      return checkConformance({ method, url }, await fetch(url, { ...init, method, headers }), misfits);
    },
    client(params = {}) {
      const link = socketLink(new WebSocket(run.wsUrl));
      return GatewayClient.connect(link, { params: { clientName: 'tests', auth: { token: token() }, ...params } });
    },
    async open() {
      const { stdout } = await runPerch(['open', '--port', new URL(run.url).port], { ...options.env, PERCH_HOME: home });
      return stdout.trim();
    },
    kill,
    async restart() {
      await kill('SIGTERM');
      run = await startGatewayProcess(options, home, Number(new URL(run.url).port));
    },
    async [Symbol.asyncDispose]() {
      const late = setTimeout(() => void kill('SIGKILL'), 5000);
      await kill('SIGTERM');
      clearTimeout(late);
      if (options.home === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      throwOnMismatches(misfits);
    },
  };
}

interface GatewayProcess {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  url: string;
  wsUrl: string;
  linkUrl: string;
  curl: string;
}

async function startGatewayProcess(
  { host = 'auto', args = [], env = {}, command = [process.execPath, CLI_MAIN] }: PerchOptions,
  home: string,
  port: number,
): Promise<GatewayProcess> {
  const [program, ...first] = command;
  const child = spawn(program, [...first, 'gateway', 'run', '--port', String(port), '--host', host, ...args], {
    env: getCleanEnvironment({ ...env, PERCH_HOME: home }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const ended = new Promise<never>((_, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) =>
      fail(new Error(`the gateway ended (${signal ?? code}) before it served:\n${output.stderr}${output.stdout}`)),
    );
  });
  ended.catch(() => {});
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const printed = new Promise<void>((done) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
      if (output.stdout.split('\n').length > 3) done();
    });
  });
  await Promise.race([printed, ended]);
  const [app = '', socket = '', api = ''] = output.stdout.split('\n');
  const linkUrl = /https?:\S+/.exec(app)?.[0] ?? '';
  return {
    child,
    output,
    linkUrl,
    url: new URL(linkUrl).origin,
    wsUrl: /wss?:\S+/.exec(socket)?.[0] ?? '',
    curl: /curl .*/.exec(api)?.[0] ?? '',
  };
}

/** Runs another command of the checkout's `runPerch` to its end. Rejects with `code` and `stderr` if it fails. */
export function runPerch(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [CLI_MAIN, ...args], { env: getCleanEnvironment(env) });
}

/** This environment without what would steer the gateway from outside. */
const getCleanEnvironment = (env: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  PERCH_TOKEN: undefined,
  PERCH_PASSWORD: undefined,
  PERCH_DEBUG: undefined,
  ...env,
});

const toHeaderRecord = ({ headers }: RequestInit): Record<string, string> => Object.fromEntries(new Headers(headers));

/** A full browser, for tests of what a headless shell lacks (installed apps, extensions, windows); null if the machine has none. */
export const findFullBrowserProgram = (): Promise<string | null> => findFullBrowser();

/** The program that tests drive: the browser that would host the gateway, a headless shell if there is one. */
export async function findBrowserProgram(): Promise<string> {
  const found = await findHostBrowser();
  if (found === null) throw new Error('no browser: run `npm test`, which installs one');
  return found;
}

/** Whether the printed command can be tried. A bare Debian has no curl. */
export const hasCurl = spawnSync('curl', ['--version']).status === 0;
