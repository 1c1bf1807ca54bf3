import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../bridge/sync/tests/nats-server.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startScreen } from '../support/virtual-screen.ts';
import type { BrowserDriver, Point, TabDriver } from './browser-driver.ts';
import { findExecutable, findProgram } from './find-program.ts';
import { createScratchFolder } from './scratch-folder.ts';

interface WebKitPrograms {
  driver: string;
  miniBrowser: string;
}

const driver = findProgram('WebKitWebDriver');
const miniBrowser = findExecutable('/usr/lib/*/webkit2gtk-4.*/MiniBrowser');
/** WebKitGTK's driver and browser; undefined if they are not installed. */
export const WEBKIT: WebKitPrograms | undefined = driver && miniBrowser ? { driver, miniBrowser } : undefined;

const SCRIPT_TIMEOUT_MS = 30_000;
const PAGE_TIMEOUT_MS = 60_000;
/** The key Enter in WebDriver (https://www.w3.org/TR/webdriver2/#keyboard-actions). */
const ENTER = '\uE007';

/** Sends a command of WebDriver and resolves with its value. */
type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

const createCall =
  (base: string): Call =>
  async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`${method} ${path} failed: ${JSON.stringify(value).slice(0, 500)}`);
    return value;
  };

/** WebKitGTK's MiniBrowser on a virtual screen, by WebDriver (https://www.w3.org/TR/webdriver2/). */
export async function launchWebKit(programs: WebKitPrograms): Promise<BrowserDriver> {
  await using starting = new AsyncDisposableStack();
  const { path: folder } = starting.use(createScratchFolder());
  const screen = starting.adopt(await startScreen('1280x900'), ({ process }) => endProcess(process));
  writeFileSync(join(folder, 'user-dirs.dirs'), `XDG_DOWNLOAD_DIR="${folder}"\n`);
  const port = await findFreePort();
  const server = spawn(programs.driver, [`--port=${port}`], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DISPLAY: screen.display,
      GDK_BACKEND: 'x11',
      XDG_CONFIG_HOME: folder,
      // Its sandbox does not run as root.
      ...(process.getuid?.() === 0 ? { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' } : {}),
    },
  });
  starting.defer(() => endProcess(server));
  const call = createCall(`http://127.0.0.1:${port}`);
  await waitFor(
    () =>
      call('GET', '/status').then(
        () => true,
        () => false,
      ),
    'WebKitWebDriver',
  );
  const { sessionId } = (await call('POST', '/session', {
    capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: programs.miniBrowser, args: ['--automation'] } } },
  })) as { sessionId: string };
  const session: Call = (method, path, body) => call(method, `/session/${sessionId}${path}`, body);
  starting.defer(async () => void (await session('DELETE', '').catch(() => {})));
  await session('POST', '/timeouts', { script: SCRIPT_TIMEOUT_MS, pageLoad: PAGE_TIMEOUT_MS });
  await session('POST', '/window/rect', { width: 1280, height: 860 });
  const windows = new WebKitWindows(session, (await session('GET', '/window')) as string);
  const parts = starting.move();
  return { downloads: folder, openTab: () => windows.open(), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function endProcess(child: ReturnType<typeof spawn>): Promise<void> {
  child.kill();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Windows of one session. Commands go to the current one, so each tab makes its own current first. */
class WebKitWindows {
  readonly #session: Call;
  #current: string;
  /** The window that the session began with, until a tab takes it. */
  #unused: string | undefined;

  constructor(session: Call, first: string) {
    this.#session = session;
    this.#current = first;
    this.#unused = first;
  }

  async open(): Promise<TabDriver> {
    // A window, not a tab: hidden tabs do not render.
    const handle = this.#unused ?? ((await this.#session('POST', '/window/new', { type: 'window' })) as { handle: string }).handle;
    this.#unused = undefined;
    return this.#createTab(handle);
  }

  #createTab(handle: string): TabDriver {
    const call: Call = async (method, path, body) => {
      if (this.#current !== handle) await this.#session('POST', '/window', { handle });
      this.#current = handle;
      return this.#session(method, path, body);
    };
    const perform = async (source: object): Promise<void> => void (await call('POST', '/actions', { actions: [source] }));
    const pressKeys = (keys: readonly string[]): Promise<void> =>
      perform({
        type: 'key',
        id: 'keyboard',
        actions: keys.flatMap((value) => [toKeyAction('keyDown', value), toKeyAction('keyUp', value)]),
      });
    return {
      goto: async (url) => void (await call('POST', '/url', { url })),
      reload: async () => void (await call('POST', '/refresh', {})),
      async evaluate(expression) {
        const script = `const done = arguments[0]; Promise.resolve().then(() => (${expression})).then((value) => done({ value }), (error) => done({ error: String(error) }));`;
        const { value, error } = (await call('POST', '/execute/async', { script, args: [] })) as { value?: unknown; error?: string };
        if (error !== undefined) throw new Error(error);
        return value;
      },
      drag: ([first, ...others]) =>
        perform({
          type: 'pointer',
          id: 'mouse',
          parameters: { pointerType: 'mouse' },
          actions: first
            ? [toMove(first), { type: 'pointerDown', button: 0 }, ...others.map(toMove), { type: 'pointerUp', button: 0 }]
            : [],
        }),
      type: (text) => pressKeys([...text]),
      pressEnter: () => pressKeys([ENTER]),
      close: async () => void (await call('DELETE', '/window')),
    };
  }
}

const toKeyAction = (type: 'keyDown' | 'keyUp', value: string): object => ({ type, value });
const toMove = ({ x, y }: Point): object => ({ type: 'pointerMove', duration: 50, x, y });
