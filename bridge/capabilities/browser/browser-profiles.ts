import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { findDrivenBrowser, BrowserNotFoundError } from '../../headless/find-browser.ts';
import { getErrorCode } from '../../home-directory.ts';
import { HostAllowlist, parseWebUrl } from '../web-guard.ts';
import { DrivenBrowser } from './driven-browser.ts';
import { type GuardedProxy, startGuardedProxy } from './guarded-proxy.ts';

const DEFAULT_PROFILE = 'default';
const ALLOW_SETTING = 'browser.allow';

export interface BrowserDeps {
  /** Folder that contains a folder for each profile. */
  dir: string;
  log(line: string): void;
  /** Finds the browser's program; null if there is none. */
  find?: () => Promise<string | null>;
  /** Milliseconds for a page to load; override for tests. */
  navigateMs?: number;
}

/** Controlled browsers by profile. Profiles are persistent, with separate cookies and storage. */
export class BrowserProfiles {
  #allowed = new HostAllowlist([], ALLOW_SETTING);
  readonly #deps: BrowserDeps;
  readonly #running = new Map<string, Promise<DrivenBrowser>>();
  #endpoint: string | null = null;
  #proxy: Promise<GuardedProxy> | undefined;

  constructor(deps: BrowserDeps) {
    this.#deps = deps;
  }

  /** Whether the browsers are on another machine. */
  get isRemote(): boolean {
    return this.#endpoint !== null;
  }

  /**
   * Sets the private hosts that the browsers may access, and closes connections to others. `endpoint`: CDP URL of a remote browser to use.
   */
  async allow(hosts: readonly string[], endpoint: string | null = null): Promise<void> {
    this.#allowed = new HostAllowlist(hosts, ALLOW_SETTING);
    if (endpoint !== this.#endpoint) {
      this.#endpoint = endpoint;
      await Promise.all([...this.#running.keys()].map((profile) => this.stop(profile)));
    }
    (await this.#proxy?.catch(() => undefined))?.recheck();
  }

  /** Returns the profile's browser if it runs. */
  getRunning(profile: string): Promise<DrivenBrowser> | undefined {
    return this.#running.get(profile);
  }

  /** Returns the profile's browser, and starts it if necessary. */
  async getBrowser(profile: string): Promise<DrivenBrowser> {
    const running = this.#running.get(profile);
    if (running) return running;
    const starting = this.#start(profile);
    this.#running.set(profile, starting);
    try {
      const started = await starting;
      void started.closed.then(() => this.#running.get(profile) === starting && this.#running.delete(profile));
      return started;
    } catch (error) {
      this.#running.delete(profile);
      throw error;
    }
  }

  async stop(profile: string): Promise<void> {
    await (await this.#running.get(profile)?.catch(() => undefined))?.close();
  }

  async list(): Promise<{ name: string; started: boolean }[]> {
    const entries = await readdir(this.#deps.dir, { withFileTypes: true }).catch((error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return [];
      throw error;
    });
    const names = new Set([DEFAULT_PROFILE, ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)]);
    return [...names].sort().map((name) => ({ name, started: this.#running.has(name) }));
  }

  async create(name: string): Promise<void> {
    if ((await this.list()).some((profile) => profile.name === name))
      throw new RpcError('ALREADY_EXISTS', `A profile named ${name} already exists`);
    await mkdir(join(this.#deps.dir, name), { recursive: true, mode: 0o700 });
  }

  async remove(name: string): Promise<void> {
    if (name === DEFAULT_PROFILE) throw new RpcError('INVALID_PARAMS', 'name: the profile “default” can’t be deleted');
    await this.#requireProfile(name);
    await this.stop(name);
    await rm(join(this.#deps.dir, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Ends all browsers. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((profile) => this.stop(profile)));
    await (await this.#proxy?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  async #start(profile: string): Promise<DrivenBrowser> {
    await this.#requireProfile(profile);
    const { dir, log, find = findDrivenBrowser, navigateMs } = this.#deps;
    const checkUrl = (address: string): URL => parseWebUrl(address, this.#allowed);
    const limits = navigateMs === undefined ? {} : { navigateMs };
    if (this.#endpoint !== null)
      return DrivenBrowser.connect({ endpoint: this.#endpoint, isIsolated: profile !== DEFAULT_PROFILE, checkUrl, ...limits });
    const executable = await find().catch((error: unknown) => {
      if (error instanceof BrowserNotFoundError) throw new RpcError('INTERNAL_ERROR', error.message, {}, { cause: error });
      throw error;
    });
    if (executable === null) throw new RpcError('INTERNAL_ERROR', 'No browser found. Install Chromium or Chrome, or set PERCH_CHROMIUM.');
    this.#proxy ??= startGuardedProxy({ allowed: () => this.#allowed });
    this.#proxy.catch(() => (this.#proxy = undefined));
    const { url } = await this.#proxy;
    const folder = join(dir, profile);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return DrivenBrowser.start({ executable, folder, proxy: url, checkUrl, log, ...limits });
  }

  async #requireProfile(name: string): Promise<void> {
    if (!(await this.list()).some((profile) => profile.name === name)) {
      throw new RpcError('NOT_FOUND', `No profile named ${name}. Create it with browser.createProfile.`);
    }
  }
}
