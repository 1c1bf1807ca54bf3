import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type PortClient, createPortClient, CallsClosed } from '#shared/link/port-calls.ts';
import { browserPort } from '#shared/ports/browser-port.ts';
import type { ContractParams } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { packageRoot } from '../../package-root.ts';
import type { PortCall, PortHandlers } from '../serve-port.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { startManagedProcess } from '../../processes/managed-process.ts';
import { createBrowserHandlers } from './browser-handlers.ts';
import { createProcessLink } from './process-link.ts';
import { type BrowserDeps, BrowserProfiles } from './browser-profiles.ts';

type Calls = typeof browserPort.calls;
type Events = typeof browserPort.events;
type CallName = keyof Calls & string;

/** The driver's program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'driver.ts')
  : join(packageRoot, 'dist', 'browser-driver.js');
/** Maximum heap in megabytes. */
const MAX_HEAP_MB = 1024;
/** Longer than a browser's start and a page's load may take together. */
const CALL_MS = 90_000;

/** Calls that need or start a browser. Others are answered without a driver if none runs. */
const DRIVER_CALLS: ReadonlySet<string> = new Set<CallName>([
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

interface DriverProcessDeps extends Pick<BrowserDeps, 'dir' | 'log'> {
  /** Ends browsers with the bridge, including those whose driver hangs. */
  keeper: Pick<ProcessKeeper, 'keep'>;
}

interface Driver {
  calls: PortClient<Calls, Events>;
  /** Kills the driver. */
  kill(): void;
  /** Lets its browsers close. Resolves when all its processes have ended. */
  end(): Promise<void>;
}

/**
 * Controls browsers from a separate process: a page can make its driver store and parse anything, which must not affect the bridge. If the
 * driver crashed or did not respond, the next call starts a new one.
 */
export function createDriverProcess(deps: DriverProcessDeps): { handlers: PortHandlers<Calls, Events>; close(): Promise<void> } {
  const idleHandlers = createBrowserHandlers(new BrowserProfiles(deps));
  let allowParams: ContractParams<Calls['browser.allow']> = { places: [] };
  let driver: Promise<Driver> | undefined;
  let lastExit: Promise<void> = Promise.resolve();
  /** Number of calls in progress, including those waiting for a driver. */
  let activeCalls = 0;
  /** Event senders of viewers, by view id. */
  const viewers = new Map<string, PortCall<Events>['send']>();

  const start = async (): Promise<Driver> => {
    // Two browsers can't use the same profile.
    await lastExit;
    const started = startDriver(deps, (exited) => {
      lastExit = exited;
      if (driver === starting) driver = undefined;
    });
    const starting = driver;
    for (const event of ['browser.viewing', 'browser.frame', 'browser.downloaded'] as const)
      started.calls.on(event, (payload) => viewers.get(payload.viewId)?.(event, payload));
    await started.calls.call('browser.allow', allowParams);
    return started;
  };

  /** Ends a driver without running browsers. */
  const endIfIdle = async (expected: Promise<Driver>, { calls, end }: Driver): Promise<void> => {
    const { profiles } = await calls.call('browser.profiles', {});
    if (activeCalls > 1 || driver !== expected || profiles.some(({ started }) => started)) return;
    driver = undefined;
    lastExit = end();
  };

  const run = async (name: CallName, params: never, call: PortCall<Events>): Promise<unknown> => {
    if (name === 'browser.allow') allowParams = params;
    if (!driver && !DRIVER_CALLS.has(name)) return idleHandlers[name](params, call);
    const expected = (driver ??= start());
    // A view is long-lived and does not keep the driver running.
    const isView = name === 'browser.view';
    if (!isView) activeCalls++;
    let killTimer: NodeJS.Timeout | undefined;
    let isStarted = false;
    try {
      const current = await expected;
      isStarted = true;
      if (!isView) killTimer = setTimeout(() => current.kill(), CALL_MS);
      const result = await current.calls.call(name, params, call.signal);
      if (name === 'browser.stop' || name === 'browser.deleteProfile') await endIfIdle(expected, current).catch(() => {});
      return result;
    } catch (error) {
      const died = error instanceof CallsClosed;
      // Also if the driver could not be started.
      if ((died || !isStarted) && driver === expected) driver = undefined;
      if (!died) throw error;
      throw new RpcError('INTERNAL_ERROR', 'The page crashed or froze the browser. It restarts on the next call.', {}, { cause: error });
    } finally {
      clearTimeout(killTimer);
      if (!isView) activeCalls--;
    }
  };

  const view = async (params: ContractParams<Calls['browser.view']>, call: PortCall<Events>): Promise<unknown> => {
    viewers.set(params.viewId, call.send);
    try {
      return await run('browser.view', params as never, call);
    } finally {
      viewers.delete(params.viewId);
    }
  };

  const names = Object.keys(browserPort.calls) as CallName[];
  return {
    handlers: Object.fromEntries(
      names.map((name) => [name, name === 'browser.view' ? view : (params: never, call: PortCall<Events>) => run(name, params, call)]),
    ) as unknown as PortHandlers<Calls, Events>,
    async close() {
      const last = await driver?.catch(() => undefined);
      driver = undefined;
      await last?.end();
      await lastExit;
    },
  };
}

function startDriver({ dir, log, keeper }: DriverProcessDeps, onGone: (exited: Promise<void>) => void): Driver {
  const driverEnv = Object.entries(process.env).filter(([name]) => !name.startsWith('PERCH_') || name === 'PERCH_CHROMIUM');
  const running = startManagedProcess(process.execPath, [`--max-old-space-size=${MAX_HEAP_MB}`, PROGRAM, dir], {
    keeper,
    env: Object.fromEntries(driverEnv),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const { child } = running;
  if (child.stderr) createInterface({ input: child.stderr }).on('line', log);
  const calls = createPortClient(createProcessLink(child), browserPort.calls, browserPort.events);
  let ending = false;
  const ended = running.exited.then((reason) => {
    if (!ending) log(`The browser process crashed (${reason}). It restarts on the next call.`);
  });
  void calls.closed.then(() => onGone(ended));
  return {
    calls,
    kill: () => void child.kill('SIGKILL'),
    end() {
      ending = true;
      calls.close();
      return ended;
    },
  };
}
