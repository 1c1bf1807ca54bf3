import { bridgeHealth } from '#shared/link/proof.ts';
import { serviceState } from '../service/state.ts';
import { callOf, connect, connectionFailure, type ConnectionOptions, openSocket, reasonOf, targetFor } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';
import { paint, say, sayJson, shownLine } from './output.ts';
import type { Target } from './target.ts';

/** Whether a gateway was reached, with its response or the error. */
export type Probe = { reachable: true; latencyMs: number; payload: object } | { reachable: false; latencyMs: number; error: string };

export interface ProbeOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

export interface StatusOptions extends ProbeOptions {
  probe: boolean;
  deep?: boolean;
}

/** `perch gateway status`. Exit code 1 if the gateway was called and did not answer. */
export async function printStatus({ probe: asks, deep = false, json = false, ...options }: StatusOptions): Promise<void> {
  const target = targetFor(options);
  const service = { status: target.isLocal ? await serviceState(target.port) : ('not-installed' as const), port: target.port };
  const probe = asks ? await timed((start) => healthOf(options, deep, start)) : undefined;
  if (json) sayJson({ service, ...(probe && { probe }) });
  else {
    say(`Service  ${service.status.replace('-', ' ')}, port ${service.port}`);
    if (probe) say(`Gateway  ${textOf(probe)}`);
    if (probe?.reachable && deep) for (const line of deepLines(probe.payload)) say(line);
  }
  if (probe && !probe.reachable) throw new CommandError(probe.error);
}

/** `perch gateway probe`: tests HTTP, then the WebSocket, both without a credential, then a call with one. Exit code 1 if one fails. */
export async function printProbe({ json = false, ...options }: ProbeOptions): Promise<void> {
  const target = targetFor(options);
  const probes: (Probe & { name: string; url: string })[] = [];
  const end = performance.now() + options.timeout;
  for (const [name, url, ask] of [
    ['http', `${target.http}/health${target.query}`, (ms: number) => overHttp(target, ms)],
    ['websocket', target.ws, (ms: number) => challenge(target, ms)],
    ['rpc', target.ws, (ms: number, start: () => void) => healthOf({ ...options, timeout: ms }, false, start)],
  ] as const) {
    const left = Math.max(1, Math.round(end - performance.now()));
    const probe = await timed((start) => ask(left, start));
    probes.push({ name, url, ...probe });
    if (!json) say(`${name.padEnd(9)}  ${textOf(probe)}`);
  }
  const failed = probes.find((probe) => !probe.reachable);
  if (json) sayJson({ ok: failed === undefined, probes });
  if (failed && !failed.reachable) throw new CommandError(failed.error);
}

/** Times a request from the last call of `start`. Throws usage errors, which are no response of a gateway. */
async function timed(ask: (start: () => void) => Promise<object>): Promise<Probe> {
  let started = performance.now();
  const start = (): void => void (started = performance.now());
  const latencyMs = (): number => Math.round((performance.now() - started) * 10) / 10;
  try {
    const payload = await ask(start);
    return { reachable: true, latencyMs: latencyMs(), payload };
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 2) throw error;
    return { reachable: false, latencyMs: latencyMs(), error: lineOf(error) };
  }
}

/** Calls a gateway's `health`. `deep`: including its environment and available parts. */
async function healthOf(options: ProbeOptions, deep: boolean, start: () => void): Promise<object> {
  const end = performance.now() + options.timeout;
  const client = await connect({ ...options, name: 'perch gateway', timeoutMs: options.timeout });
  const left = (): number => end - performance.now();
  try {
    start();
    const health = await callOf(client, 'health', {}, left());
    if (!deep) return health;
    const [info, { entries }] = await Promise.all([
      callOf(client, 'system.info', {}, left()),
      callOf(client, 'system.presence', {}, left()),
    ]);
    return { ...health, info, presence: entries };
  } finally {
    client.close();
  }
}

async function overHttp(target: Target, timeoutMs: number): Promise<object> {
  const response = await fetch(`${target.http}/health${target.query}`, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: unknown) => {
      throw connectionFailure(target, error, reasonOf(error));
    },
  );
  const answer = bridgeHealth.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !answer.success) throw new CommandError(`The server ${target.where} is not Perch (status ${response.status})`);
  return answer.data;
}

/** Returns the first message that a gateway sends on every socket. */
async function challenge(target: Target, timeoutMs: number): Promise<object> {
  const { link, reason } = openSocket(target, timeoutMs);
  const said = Promise.withResolvers<string>();
  link.receive({ message: said.resolve, close: (code, why) => said.reject(new Error(why || `connection closed (${code})`)) });
  const timer = setTimeout(() => said.reject(new Error('the gateway didn’t respond')), timeoutMs);
  try {
    const frame: unknown = JSON.parse(await said.promise);
    if (typeof frame === 'object' && frame && 'event' in frame && frame.event === 'connect.challenge') return { event: frame.event };
    throw new Error('the first message is not connect.challenge');
  } catch (error) {
    throw connectionFailure(target, error, reason());
  } finally {
    clearTimeout(timer);
    link.close(1000, '');
  }
}

function textOf(probe: Probe): string {
  if (!probe.reachable) return paint('red', shownLine(probe.error));
  const facts = Object.entries(probe.payload)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) =>
      name === 'status' ? String(value) : `${name} ${name === 'uptime' ? `${Math.round(Number(value))} s` : String(value)}`,
    );
  return `${paint('green', 'reachable')} in ${probe.latencyMs} ms: ${shownLine(facts.join(', '))}`;
}

function deepLines(payload: object): string[] {
  const { info = {}, presence = [] } = payload as { info?: Record<string, unknown>; presence?: { component: string; state: string }[] };
  const facts = Object.entries(info).map(([name, value]) => `  ${name.padEnd(10)}  ${shownLine(String(value ?? '–'))}`);
  const parts = presence.map(
    ({ component, state }) => `  ${shownLine(component)}: ${paint(state === 'online' ? 'green' : 'yellow', state)}`,
  );
  return ['System', ...facts, 'Components', ...parts];
}
