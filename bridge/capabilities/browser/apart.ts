import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Caller, caller, CallsClosed } from '#shared/link/calls.ts';
import { browserPort } from '#shared/ports/browser.ts';
import type { ParamsOf } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { packageRoot } from '../../package-root.ts';
import type { PortCall, PortHandlers } from '../../server/serve-port.ts';
import type { Keeper } from '../../processes/keep.ts';
import { startKept } from '../../processes/kept-process.ts';
import { browserHandlers } from './browser.ts';
import { processLink } from './process-link.ts';
import { type BrowserDeps, BrowserProfiles } from './profiles.ts';

type Calls = typeof browserPort.calls;
type Events = typeof browserPort.events;
type Name = keyof Calls & string;

/** The driver's program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'driver.ts')
  : join(packageRoot, 'dist', 'browser-driver.js');
/** Maximum heap in megabytes. */
const MEMORY = 1024;
/** Longer than a browser's start and a page's load may take together. */
const CALL_MS = 90_000;

/** Calls that need or start a browser. Others are answered without a driver if none runs. */
const DRIVEN: ReadonlySet<string> = new Set<Name>([
  'browser.start',
  'browser.open',
  'browser.navigate',
  'browser.click',
  'browser.type',
  'browser.screenshot',
  'browser.snapshot',
  'browser.evaluate',
  'browser.focus',
  'browser.close',
  'browser.dialogs',
  'browser.download',
  'browser.view',
  'browser.input',
]);

export interface BrowsersApartDeps extends Pick<BrowserDeps, 'dir' | 'log'> {
  /** Ends browsers with the bridge, including those whose driver hangs. */
  keeper: Pick<Keeper, 'keep'>;
}

interface Driver {
  calls: Caller<Calls, Events>;
  /** Kills the driver. */
  kill(): void;
  /** Lets its browsers close. Resolves when all its processes have ended. */
  end(): Promise<void>;
}

/**
 * Controls browsers from a separate process: a page can make its driver store and parse anything, which must not affect the bridge. If the
 * driver crashed or did not respond, the next call starts a new one.
 */
export function browsersApart(deps: BrowsersApartDeps): { handlers: PortHandlers<Calls, Events>; close(): Promise<void> } {
  const idle = browserHandlers(new BrowserProfiles(deps));
  let reach: ParamsOf<Calls['browser.allow']> = { places: [] };
  let driver: Promise<Driver> | undefined;
  let gone: Promise<void> = Promise.resolve();
  /** Number of calls in progress, including those waiting for a driver. */
  let underWay = 0;
  /** Event senders of viewers, by view id. */
  const viewers = new Map<string, PortCall<Events>['send']>();

  const start = async (): Promise<Driver> => {
    // Two browsers can't use the same profile.
    await gone;
    const started = startDriver(deps, (over) => {
      gone = over;
      if (driver === starting) driver = undefined;
    });
    const starting = driver;
    for (const event of ['browser.viewing', 'browser.frame', 'browser.downloaded'] as const)
      started.calls.on(event, (payload) => viewers.get(payload.viewId)?.(event, payload));
    await started.calls.call('browser.allow', reach);
    return started;
  };

  /** Ends a driver without running browsers. */
  const rest = async (from: Promise<Driver>, { calls, end }: Driver): Promise<void> => {
    const { profiles } = await calls.call('browser.profiles', {});
    if (underWay > 1 || driver !== from || profiles.some(({ started }) => started)) return;
    driver = undefined;
    gone = end();
  };

  const run = async (name: Name, params: never, call: PortCall<Events>): Promise<unknown> => {
    if (name === 'browser.allow') reach = params;
    if (!driver && !DRIVEN.has(name)) return idle[name](params, call);
    const from = (driver ??= start());
    // A view is long-lived and does not keep the driver running.
    const lasts = name === 'browser.view';
    if (!lasts) underWay++;
    let late: NodeJS.Timeout | undefined;
    let begun = false;
    try {
      const at = await from;
      begun = true;
      if (!lasts) late = setTimeout(() => at.kill(), CALL_MS);
      const result = await at.calls.call(name, params, call.signal);
      if (name === 'browser.stop' || name === 'browser.deleteProfile') await rest(from, at).catch(() => {});
      return result;
    } catch (error) {
      const died = error instanceof CallsClosed;
      // Also if the driver could not be started.
      if ((died || !begun) && driver === from) driver = undefined;
      if (!died) throw error;
      throw new RpcError('INTERNAL_ERROR', 'The page crashed or froze the browser. It restarts on the next call.', {}, { cause: error });
    } finally {
      clearTimeout(late);
      if (!lasts) underWay--;
    }
  };

  const view = async (params: ParamsOf<Calls['browser.view']>, call: PortCall<Events>): Promise<unknown> => {
    viewers.set(params.viewId, call.send);
    try {
      return await run('browser.view', params as never, call);
    } finally {
      viewers.delete(params.viewId);
    }
  };

  const names = Object.keys(browserPort.calls) as Name[];
  return {
    handlers: Object.fromEntries(
      names.map((name) => [name, name === 'browser.view' ? view : (params: never, call: PortCall<Events>) => run(name, params, call)]),
    ) as unknown as PortHandlers<Calls, Events>,
    async close() {
      const last = await driver?.catch(() => undefined);
      driver = undefined;
      await last?.end();
      await gone;
    },
  };
}

function startDriver({ dir, log, keeper }: BrowsersApartDeps, ongone: (over: Promise<void>) => void): Driver {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PERCH_') || name === 'PERCH_CHROMIUM');
  const running = startKept(process.execPath, [`--max-old-space-size=${MEMORY}`, PROGRAM, dir], {
    keeper,
    env: Object.fromEntries(own),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { child } = running;
  if (child.stderr) createInterface({ input: child.stderr }).on('line', log);
  const calls = caller(processLink(child), browserPort.calls, browserPort.events);
  let ending = false;
  const over = running.over.then((how) => {
    if (!ending) log(`The browser process crashed (${how}). It restarts on the next call.`);
  });
  void calls.closed.then(() => ongone(over));
  return {
    calls,
    kill: () => void child.kill('SIGKILL'),
    end() {
      ending = true;
      calls.close();
      return over;
    },
  };
}
