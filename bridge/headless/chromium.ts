import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable, Writable } from 'node:stream';
import { NO_KEEPER } from '../processes/process-keeper.ts';
import { startManagedProcess } from '../processes/managed-process.ts';
import { CdpConnection } from './cdp-connection.ts';
import { START_MS, createUnattendedOptions } from './launch-options.ts';
import { ChromiumTab } from './chromium-tab.ts';

const CLOSE_MS = 2000;
/** Maximum bytes of error output kept during the start. */
const MAX_STDERR_BYTES = 64 * 1024;

/** Keeps a hidden page at full speed, without pop-ups or requests to the system. */
const HOST_ARGS = [
  ...['--headless', '--remote-debugging-pipe', '--hide-scrollbars', '--mute-audio', '--window-size=320,240'],
  ...['--disable-background-timer-throttling', '--disable-backgrounding-occluded-windows', '--disable-renderer-backgrounding'],
  ...['--disable-hang-monitor', '--disable-ipc-flooding-protection', '--disable-popup-blocking', '--disable-prompt-on-repost'],
  ...['--disable-breakpad', '--disable-extensions', '--disable-default-apps', '--disable-field-trial-config', '--disable-dev-shm-usage'],
  ...['--no-default-browser-check', '--no-service-autorun', '--metrics-recording-only', '--password-store=basic', '--use-mock-keychain'],
  '--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,AutofillServerCommunication',
];

interface ChromiumOptions {
  executable: string;
  /** User data folder. */
  profile: string;
  args: readonly string[];
}

/** A Chromium that ends with this process, however that ends: it exits when its debugging pipe closes. */
export class Chromium {
  readonly #child: ChildProcess;
  readonly #cdp: CdpConnection;
  /** Resolves when all its processes have ended. */
  readonly exited: Promise<string>;

  private constructor(child: ChildProcess, cdp: CdpConnection, exited: Promise<string>) {
    this.#child = child;
    this.#cdp = cdp;
    this.exited = exited;
  }

  /** Resolves once the browser answers. Throws with its error output if it does not. */
  static async launch({ executable, profile, args }: ChromiumOptions): Promise<Chromium> {
    const { args: common, env, chromiumSandbox } = createUnattendedOptions(executable, args);
    const { child, exited } = startManagedProcess(
      executable,
      [...common, ...HOST_ARGS, ...(chromiumSandbox ? [] : ['--no-sandbox']), `--user-data-dir=${profile}`, 'about:blank'],
      // Closing the pipe ends it, so it needs no keeper.
      { keeper: NO_KEEPER, env, stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] },
    );
    let stderrText = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderrText.length < MAX_STDERR_BYTES ? (stderrText += chunk.toString()) : undefined));
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    failed.catch(() => {});
    const [, , , to, from] = child.stdio;
    const cdp = new CdpConnection(to as Writable, from as Readable);
    const chromium = new Chromium(child, cdp, exited);
    try {
      await Promise.race([
        cdp.call('Target.setDiscoverTargets', { discover: true }),
        failed,
        once(child, 'close').then(([code]) =>
          Promise.reject(new Error(`${stderrText.trim()}\nit ended immediately (${String(code)})`.trim())),
        ),
        sleep(START_MS, undefined, { ref: false }).then(() => Promise.reject(new Error(`it didn’t respond within ${START_MS / 1000} s`))),
      ]);
    } catch (error) {
      // Its error output may arrive just after the pipe's end.
      if (child.exitCode === null && child.signalCode === null) await Promise.race([once(child, 'close'), sleep(CLOSE_MS)]);
      chromium.#kill();
      throw stderrText.trim() === '' ? error : new Error(stderrText.trim(), { cause: error });
    }
    return chromium;
  }

  /** Process id of the browser. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Opens a new tab and closes all others. */
  async tab(): Promise<ChromiumTab> {
    const { targetInfos } = await this.#cdp.call('Target.getTargets');
    const tab = await ChromiumTab.open(this.#cdp);
    for (const { type, targetId } of targetInfos as { type: string; targetId: string }[])
      if (type === 'page') this.#cdp.call('Target.closeTarget', { targetId }).catch(() => {});
    return tab;
  }

  /** Asks the browser to exit, and kills all its processes if it does not. */
  async close(): Promise<void> {
    const done = new AbortController();
    this.#cdp.call('Browser.close').catch(() => {});
    await Promise.race([this.exited, sleep(CLOSE_MS, undefined, { signal: done.signal }).catch(() => {})]);
    done.abort();
    this.#kill();
    await this.exited;
  }

  #kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      if (process.platform === 'win32') this.#child.kill('SIGKILL');
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}
