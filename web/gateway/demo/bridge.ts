import type { EventSchemas } from '#shared/link/calls.ts';
import { desktopPort } from '#shared/ports/desktop.ts';
import { execPort } from '#shared/ports/exec.ts';
import type { Port } from '#shared/ports/port.ts';
import { webPort } from '#shared/ports/web.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Contracts, ParsedOf, ResultOf } from '#shared/rpc/contract.ts';
import { commandLine } from '#shared/command-line.ts';
import { sha256 } from '#shared/sha256.ts';
import { type Bridge, needsBridge } from '../core/bridge.ts';
import { CLUB_PAGE } from './bird-club.ts';
import { desktopPicture, DESKTOP } from './desktop.ts';

type Tell<E extends EventSchemas> = (event: keyof E & string, payload: unknown) => void;
type Played<C extends Contracts, E extends EventSchemas> = {
  [N in keyof C & string]: (params: ParsedOf<C[N]>, tell: Tell<E>, signal: AbortSignal | undefined) => Promise<ResultOf<C[N]>>;
};
type Lent = { port: Port; calls: Record<string, (params: never, tell: Tell<EventSchemas>, signal?: AbortSignal) => Promise<unknown>> };

const lent = <C extends Contracts, E extends EventSchemas>(port: Port<C, E>, calls: Played<C, E>): Lent =>
  ({ port, calls }) as unknown as Lent;

const FOLDER = '/home/demo/project';
const TESTS = [
  '> project@1.0.0 test',
  '> vitest run',
  '',
  ' ✓ herons.test.ts (4 tests)',
  ' ✓ nests.test.ts (7 tests)',
  '',
  ' Tests  11 passed (11)',
  '',
];

/** Makes up the output of commands; none of them runs. */
const exec = lent(execPort, {
  'exec.resolve': async ({ command, args, workingDir = FOLDER }) => {
    const realPath = command.startsWith('/') ? command : `/usr/bin/${command}`;
    return { realPath, workingDir, hash: await sha256(JSON.stringify([realPath, args, workingDir])) };
  },
  'exec.run': async ({ command, args }, tell, signal) => {
    const line = commandLine(command, args);
    const printed = line === 'npm test' ? TESTS : [`$ ${line}`, '(The demo doesn’t run commands.)', ''];
    for (const text of printed) {
      signal?.throwIfAborted();
      tell('exec.output', { stream: 'stdout', text: `${text}\n` });
    }
    return { exitCode: 0, signal: null, timedOut: false, truncated: false };
  },
});

const desktop = lent(desktopPort, {
  'desktop.check': async () => ({ problem: null }),
  'desktop.windows': async () => DESKTOP,
  'desktop.screenshot': desktopPicture,
});

const web = lent(webPort, {
  'web.fetch': async ({ url }) => {
    if (url !== CLUB_PAGE.url) throw new RpcError('NOT_IMPLEMENTED', 'The demo has no network access.');
    return { url, status: 200, contentType: 'text/plain; charset=utf-8', body: btoa(CLUB_PAGE.text) };
  },
});

const PORTS = new Map([exec, desktop, web].map((each) => [each.port.kind, each]));

/** Capabilities that the demo simulates. Params and results are validated by the ports' own contracts. */
export const demoBridge = (): Bridge => ({
  lends: ({ kind }) => PORTS.has(kind),
  watch: () => () => {},
  async call(port, name, params, { signal, on = {} } = {}) {
    const run = PORTS.get(port.kind)?.calls[name];
    const contract = port.calls[name];
    if (!run || !contract) throw needsBridge(port);
    signal?.throwIfAborted();
    const tell: Tell<EventSchemas> = (event, payload) => {
      const schema = port.events[event];
      if (schema) (on as Record<string, ((payload: unknown) => void) | undefined>)[event]?.(schema.parse(payload));
    };
    return contract.result.parse(await run(contract.params.parse(params) as never, tell, signal)) as never;
  },
});
