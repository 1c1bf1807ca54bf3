import type { EventSchemas } from '#shared/link/port-calls.ts';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { execPort } from '#shared/ports/exec-port.ts';
import type { Port } from '#shared/ports/port.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Contracts, ParsedParams, ContractResult } from '#shared/rpc/contract.ts';
import { formatCommandLine } from '#shared/command-line.ts';
import { sha256 } from '#shared/sha256.ts';
import { type Bridge, createNeedsBridgeError } from '../ports/bridge-interface.ts';
import { CLUB_PAGE } from './bird-club.ts';
import { drawDesktop, DESKTOP_WINDOWS } from './demo-desktop.ts';
import { NEST_COUNTS } from './nest-counts.ts';
import { EXPORT_COMMAND } from './showcase-chat.ts';

type EmitEvent<E extends EventSchemas> = (event: keyof E & string, payload: unknown) => void;
type PortHandlers<C extends Contracts, E extends EventSchemas> = {
  [N in keyof C & string]: (
    params: ParsedParams<C[N]>,
    tell: EmitEvent<E>,
    signal: AbortSignal | undefined,
  ) => Promise<ContractResult<C[N]>>;
};
type SimulatedPort = {
  port: Port;
  calls: Record<string, (params: never, tell: EmitEvent<EventSchemas>, signal?: AbortSignal) => Promise<unknown>>;
};

const simulatePort = <C extends Contracts, E extends EventSchemas>(port: Port<C, E>, calls: PortHandlers<C, E>): SimulatedPort =>
  ({ port, calls }) as unknown as SimulatedPort;

/** Folder in which the demo's commands seem to run. */
export const PROJECT_DIR = '/home/demo/project';
/** Output of commands by their line. */
const OUTPUTS: Readonly<Record<string, readonly string[]>> = {
  'npm test': [
    '> project@1.0.0 test',
    '> vitest run',
    '',
    ' ✓ herons.test.ts (4 tests)',
    ' ✓ nests.test.ts (7 tests)',
    '',
    ' Tests  11 passed (11)',
    '',
  ],
  [formatCommandLine(EXPORT_COMMAND.command, EXPORT_COMMAND.args)]: [
    '> project@1.0.0 export',
    '> node scripts/export.ts --format=csv --out=nest-counts.csv',
    '',
    `Read ${NEST_COUNTS.length} species, 5 years`,
    `Wrote nest-counts.csv (${NEST_COUNTS.length * 5} rows)`,
    '',
  ],
};

/** Makes up the output of commands; none of them runs. */
const simulatedExec = simulatePort(execPort, {
  'exec.resolve': async ({ command, args, workingDir = PROJECT_DIR }) => {
    const realPath = command.startsWith('/') ? command : `/usr/bin/${command}`;
    return { realPath, workingDir, hash: await sha256(JSON.stringify([realPath, args, workingDir])) };
  },
  'exec.run': async ({ command, args }, emit, signal) => {
    const line = formatCommandLine(command, args);
    const lines = OUTPUTS[line] ?? [`$ ${line}`, '(The demo doesn’t run commands.)', ''];
    for (const text of lines) {
      signal?.throwIfAborted();
      emit('exec.output', { stream: 'stdout', text: `${text}\n` });
    }
    return { exitCode: 0, signal: null, timedOut: false, truncated: false };
  },
});

const simulatedDesktop = simulatePort(desktopPort, {
  'desktop.check': async () => ({ problem: null }),
  'desktop.windows': async () => DESKTOP_WINDOWS,
  'desktop.screenshot': drawDesktop,
});

const simulatedWeb = simulatePort(webPort, {
  'web.fetch': async ({ url }) => {
    if (url !== CLUB_PAGE.url) throw new RpcError('NOT_IMPLEMENTED', 'The demo has no network access.');
    return { url, status: 200, contentType: 'text/plain; charset=utf-8', body: btoa(CLUB_PAGE.text) };
  },
});

const PORTS = new Map([simulatedExec, simulatedDesktop, simulatedWeb].map((each) => [each.port.kind, each]));

/** Capabilities that the demo simulates. Params and results are validated by the ports' own contracts. */
export const createDemoBridge = (): Bridge => ({
  // Requests of channels go to the demo's `fetch`.
  provides: ({ kind }) => kind === 'egress' || PORTS.has(kind),
  watch: () => () => {},
  async call(port, name, params, { signal, on = {} } = {}) {
    const run = PORTS.get(port.kind)?.calls[name];
    const contract = port.calls[name];
    if (!run || !contract) throw createNeedsBridgeError(port);
    signal?.throwIfAborted();
    const emit: EmitEvent<EventSchemas> = (event, payload) => {
      const schema = port.events[event];
      if (schema) (on as Record<string, ((payload: unknown) => void) | undefined>)[event]?.(schema.parse(payload));
    };
    return contract.result.parse(await run(contract.params.parse(params) as never, emit, signal)) as never;
  },
});
