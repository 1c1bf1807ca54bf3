import { bridgeHealth } from '#shared/link/link-credentials.ts';
import { getServiceState } from '../service/service-state.ts';
import {
  callGateway,
  connectGateway,
  toConnectionError,
  type ConnectionOptions,
  openSocket,
  describeNetworkError,
  resolveTarget,
} from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { colorize, printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import type { GatewayTarget } from './gateway-target.ts';

/** Whether a gateway was reached, with its response or the error. */
type ProbeResult = { reachable: true; latencyMs: number; payload: object } | { reachable: false; latencyMs: number; error: string };

interface ProbeOptions extends ConnectionOptions {
  timeout: number;
  json?: boolean;
}

interface StatusOptions extends ProbeOptions {
  probe: boolean;
  deep?: boolean;
}

/** `perch gateway status`. Exit code 1 if the gateway was called and did not answer. */
export async function printStatus({ probe: asks, deep = false, json = false, ...options }: StatusOptions): Promise<void> {
  const target = resolveTarget(options);
  const service = { status: target.isLocal ? await getServiceState(target.port) : ('not-installed' as const), port: target.port };
  const probe = asks ? await measure((start) => requestHealth(options, deep, start)) : undefined;
  if (json) printJson({ service, ...(probe && { probe }) });
  else {
    printLine(`Service  ${service.status.replace('-', ' ')}, port ${service.port}`);
    if (probe) printLine(`Gateway  ${formatProbe(probe)}`);
    if (probe?.reachable && deep) for (const line of formatDeepStatus(probe.payload)) printLine(line);
  }
  if (probe && !probe.reachable) throw new CommandError(probe.error);
}

/** `perch gateway probe`: tests HTTP, then the WebSocket, both without a credential, then a call with one. Exit code 1 if one fails. */
export async function printProbe({ json = false, ...options }: ProbeOptions): Promise<void> {
  const target = resolveTarget(options);
  const probes: (ProbeResult & { name: string; url: string })[] = [];
  const end = performance.now() + options.timeout;
  for (const [name, url, request] of [
    ['http', `${target.http}/health${target.query}`, (ms: number) => probeHttp(target, ms)],
    ['websocket', target.ws, (ms: number) => readChallenge(target, ms)],
    ['rpc', target.ws, (ms: number, start: () => void) => requestHealth({ ...options, timeout: ms }, false, start)],
  ] as const) {
    const remainingMs = Math.max(1, Math.round(end - performance.now()));
    const probe = await measure((start) => request(remainingMs, start));
    probes.push({ name, url, ...probe });
    if (!json) printLine(`${name.padEnd(9)}  ${formatProbe(probe)}`);
  }
  const failed = probes.find((probe) => !probe.reachable);
  if (json) printJson({ ok: failed === undefined, probes });
  if (failed && !failed.reachable) throw new CommandError(failed.error);
}

/** Times a request from the last call of `start`. Throws usage errors, which are no response of a gateway. */
async function measure(request: (start: () => void) => Promise<object>): Promise<ProbeResult> {
  let started = performance.now();
  const start = (): void => void (started = performance.now());
  const latencyMs = (): number => Math.round((performance.now() - started) * 10) / 10;
  try {
    const payload = await request(start);
    return { reachable: true, latencyMs: latencyMs(), payload };
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 2) throw error;
    return { reachable: false, latencyMs: latencyMs(), error: toErrorLine(error) };
  }
}

/** Calls a gateway's `health`. `deep`: including its environment and available parts. */
async function requestHealth(options: ProbeOptions, deep: boolean, start: () => void): Promise<object> {
  const end = performance.now() + options.timeout;
  const client = await connectGateway({ ...options, name: 'perch gateway', timeoutMs: options.timeout });
  const getRemainingMs = (): number => end - performance.now();
  try {
    start();
    const health = await callGateway(client, 'health', {}, getRemainingMs());
    if (!deep) return health;
    const [info, { entries }] = await Promise.all([
      callGateway(client, 'system.info', {}, getRemainingMs()),
      callGateway(client, 'system.presence', {}, getRemainingMs()),
    ]);
    return { ...health, info, presence: entries };
  } finally {
    client.close();
  }
}

async function probeHttp(target: GatewayTarget, timeoutMs: number): Promise<object> {
  const response = await fetch(`${target.http}/health${target.query}`, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: unknown) => {
      throw toConnectionError(target, error, describeNetworkError(error));
    },
  );
  const answer = bridgeHealth.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !answer.success) throw new CommandError(`The server ${target.where} is not Perch (status ${response.status})`);
  return answer.data;
}

/** Returns the first message that a gateway sends on every socket. */
async function readChallenge(target: GatewayTarget, timeoutMs: number): Promise<object> {
  const { link, reason } = openSocket(target, timeoutMs);
  const firstMessage = Promise.withResolvers<string>();
  link.receive({
    message: firstMessage.resolve,
    close: (code, closeReason) => firstMessage.reject(new Error(closeReason || `connection closed (${code})`)),
  });
  const timer = setTimeout(() => firstMessage.reject(new Error('the gateway didn’t respond')), timeoutMs);
  try {
    const frame: unknown = JSON.parse(await firstMessage.promise);
    if (typeof frame === 'object' && frame && 'event' in frame && frame.event === 'connect.challenge') return { event: frame.event };
    throw new Error('the first message is not connect.challenge');
  } catch (error) {
    throw toConnectionError(target, error, reason());
  } finally {
    clearTimeout(timer);
    link.close(1000, '');
  }
}

function formatProbe(probe: ProbeResult): string {
  if (!probe.reachable) return colorize('red', escapeToOneLine(probe.error));
  const facts = Object.entries(probe.payload)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) =>
      name === 'status' ? String(value) : `${name} ${name === 'uptime' ? `${Math.round(Number(value))} s` : String(value)}`,
    );
  return `${colorize('green', 'reachable')} in ${probe.latencyMs} ms: ${escapeToOneLine(facts.join(', '))}`;
}

function formatDeepStatus(payload: object): string[] {
  const { info = {}, presence = [] } = payload as { info?: Record<string, unknown>; presence?: { component: string; state: string }[] };
  const facts = Object.entries(info).map(([name, value]) => `  ${name.padEnd(10)}  ${escapeToOneLine(String(value ?? '–'))}`);
  const parts = presence.map(
    ({ component, state }) => `  ${escapeToOneLine(component)}: ${colorize(state === 'online' ? 'green' : 'yellow', state)}`,
  );
  return ['System', ...facts, 'Components', ...parts];
}
