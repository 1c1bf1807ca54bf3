import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createBridgedGateway, type BridgedGateway } from '../../../tests/support/bridged-gateway.ts';
import { startTestBridge, type TestBridge } from '../../server/tests/test-bridge.ts';

const MAIN = join(import.meta.dirname, '../main.ts');

interface CommandOutput {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A gateway with its own bridge, and commands that run against it. */
export interface CliGateway extends AsyncDisposable {
  bridge: TestBridge;
  gw: BridgedGateway;
  port: string;
  /** Runs a command until it exits, with `input` on standard input. */
  run(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Promise<CommandOutput>;
  /** Starts a command that keeps running. */
  start(args: readonly string[], env?: Record<string, string>): ChildProcess;
}

/** Runs `perch` with a given environment. */
export function runPerch(args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<CommandOutput> {
  const child = startPerchCommand(args, env);
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return awaitOutput(child);
}

const startPerchCommand = (args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess =>
  spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, PERCH_TOKEN: undefined, PERCH_PASSWORD: undefined, PERCH_DEBUG: undefined, ...env },
  });

/** Resolves to a command's output and exit code. */
export async function awaitOutput(child: ChildProcess): Promise<CommandOutput> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

export async function startCliGateway(options: Parameters<typeof createBridgedGateway>[0] = {}): Promise<CliGateway> {
  const bridge = await startTestBridge();
  const gw = await createBridgedGateway(options);
  await gw.attach(bridge);
  const env = { PERCH_HOME: bridge.home.dir };
  return {
    bridge,
    gw,
    port: new URL(bridge.url).port,
    run: (args, { input, env: more = {} } = {}) => runPerch(args, { ...env, ...more }, input),
    start: (args, extraEnv = {}) => startPerchCommand(args, { ...env, ...extraEnv }),
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await bridge[Symbol.asyncDispose]();
    },
  };
}
