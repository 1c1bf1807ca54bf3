import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { z } from '#shared/rpc/zod.ts';
import { findNpm } from '../capabilities/system/latest-version.ts';
import type { ProcessKeeper } from '../processes/process-keeper.ts';
import { startManagedProcess, omitPerchVariables } from '../processes/managed-process.ts';

/** An optional package, installed only when it is needed. */
export interface ExtraSpec {
  /** Folder under `extras/`. */
  name: string;
  /** Name of the main package, and its exact version. */
  package: string;
  version: string;
  /** Additional packages as `name@version`, built for this machine. Empty if there is no build for it. */
  platformPackages: readonly string[];
  /** Path of the module to import, within `node_modules`. */
  entry: string;
  /** Download size, for display. */
  size: string;
  /** Source of a module that tests whether the package works here. `entry`: URL of the package's module. Exits with code 0 if it works. */
  proof(entry: string): string;
}

type ExtraState =
  { state: 'ready'; version: string } | { state: 'outdated'; version: string } | { state: 'missing' } | { state: 'unsupported' };

/** An extra is not installed or could not be installed. */
class ExtraError extends Error {
  override name = 'ExtraError';
}

const READY_FILE = 'perch-extra.json';
const readyFileSchema = z.object({ version: z.string(), beside: z.array(z.string()) });
/** Milliseconds after which an unresponsive registry is given up. */
const SILENCE_MS = 60_000;
/** Maximum duration of an installation in milliseconds. */
const MAX_INSTALL_MS = 3_600_000;

/** An optional package in its own folder under the bridge's home, installed by npm on demand. */
export class OptionalPackage {
  readonly dir: string;
  readonly spec: ExtraSpec;
  readonly #parent: string;
  readonly #keeper: Pick<ProcessKeeper, 'keep'>;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    spec: ExtraSpec,
    { home, keeper, env = process.env }: { home: string; keeper: Pick<ProcessKeeper, 'keep'>; env?: NodeJS.ProcessEnv },
  ) {
    this.spec = spec;
    this.#parent = join(home, 'extras');
    this.dir = join(this.#parent, spec.name);
    this.#keeper = keeper;
    this.#env = omitPerchVariables(env);
  }

  /** Returns `ready` only if the wanted version is completely installed and was tested. */
  async state(): Promise<ExtraState> {
    if (this.spec.platformPackages.length === 0) return { state: 'unsupported' };
    const text = await readFile(join(this.dir, READY_FILE), 'utf8').catch(() => undefined);
    if (text === undefined || !existsSync(join(this.dir, 'node_modules', this.spec.entry))) return { state: 'missing' };
    const found = readyFileSchema.safeParse(parseJson(text)).data;
    if (!found) return { state: 'missing' };
    const { version, beside } = found;
    const current = version === this.spec.version && this.spec.platformPackages.every((each) => beside.includes(each));
    return { state: current ? 'ready' : 'outdated', version };
  }

  /** URL of its module. */
  get entry(): string {
    return getEntryPath(this.dir, this.spec);
  }

  /**
   * Installs the package or replaces another version: the user's npm installs to a temporary folder, which is tested and then moved into
   * place atomically. No package scripts run. `report` receives the progress. Throws ExtraError.
   */
  async install({ report = () => {}, signal }: { report?: (line: string) => void; signal?: AbortSignal } = {}): Promise<void> {
    const { spec } = this;
    const packageVersion = `${spec.package} ${spec.version}`;
    if (spec.platformPackages.length === 0) throw new ExtraError(`${spec.package} has no build for ${process.platform} on ${process.arch}`);
    const npm = findNpm();
    if (!npm) throw new ExtraError(`Couldn’t install ${packageVersion}: npm is not installed`);
    await this.#sweep();
    const fresh = join(this.#parent, `.${spec.name}-${randomBytes(6).toString('hex')}`);
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    try {
      await writeFile(join(fresh, 'package.json'), `${JSON.stringify({ private: true })}\n`);
      report(`Downloading ${packageVersion} (${spec.size})…`);
      await this.#fetch(npm, fresh, report, signal);
      report('Testing the installation…');
      await this.#prove(fresh, signal);
      await writeFile(join(fresh, READY_FILE), `${JSON.stringify({ version: spec.version, beside: spec.platformPackages })}\n`);
      await rm(this.dir, { recursive: true, force: true });
      await rename(fresh, this.dir);
      report(`Installed ${packageVersion}`);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }

  /** Resolves to whether there was anything to remove. */
  async uninstall(): Promise<boolean> {
    await this.#sweep();
    const existed = existsSync(this.dir);
    await rm(this.dir, { recursive: true, force: true });
    return existed;
  }

  /** Removes folders of interrupted installations. Recent ones may still be in use. */
  async #sweep(): Promise<void> {
    const names = await readdir(this.#parent).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(`.${this.spec.name}-`))) {
      const path = join(this.#parent, name);
      const since = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
      if (Date.now() - since > MAX_INSTALL_MS) await rm(path, { recursive: true, force: true });
    }
  }

  async #fetch(npm: [string, ...string[]], dir: string, report: (line: string) => void, signal: AbortSignal | undefined): Promise<void> {
    const { spec } = this;
    const [program, ...first] = npm;
    const packages = [`${spec.package}@${spec.version}`, ...spec.platformPackages];
    const flags = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier'];
    const args = [
      ...first,
      'install',
      ...packages,
      '--prefix',
      dir,
      ...flags,
      '--save-exact',
      '--loglevel=http',
      `--fetch-timeout=${SILENCE_MS}`,
    ];
    let fetched = 0;
    let code: string | undefined;
    const exitReason = await this.#run(program, args, dir, signal, (line) => {
      // Lines may contain a registry's credentials, so only npm's error code is passed on.
      if (/^npm http (?:fetch GET 200|cache) .*\.tgz/.test(line)) {
        fetched++;
        if (fetched % 20 === 0) report(`Downloaded ${fetched} packages`);
      }
      code ??= /^npm (?:error|ERR!) code (\S+)/.exec(line)?.[1];
    });
    if (exitReason !== '0') throw new ExtraError(`Couldn’t download ${spec.package} ${spec.version} (npm: ${code ?? exitReason})`);
  }

  async #prove(dir: string, signal: AbortSignal | undefined): Promise<void> {
    const { spec } = this;
    let last = '';
    // Written to a file, since Node would pass an `--eval` text to every process that the package forks.
    const proof = join(dir, 'proof.mjs');
    await writeFile(proof, spec.proof(getEntryPath(dir, spec)));
    const exitReason = await this.#run(process.execPath, [proof], dir, signal, (line) => {
      if (/^\w*Error\b/.test(line)) last ||= line;
    });
    await rm(proof);
    if (exitReason !== '0') throw new ExtraError(`${spec.package} ${spec.version} doesn’t work on this computer (${last || exitReason})`);
  }

  async #run(
    program: string,
    args: readonly string[],
    cwd: string,
    signal: AbortSignal | undefined,
    line: (text: string) => void,
  ): Promise<string> {
    signal?.throwIfAborted();
    const running = startManagedProcess(program, args, { keeper: this.#keeper, env: this.#env, stdio: ['ignore', 'ignore', 'pipe'], cwd });
    const stop = (): void => void running.end();
    signal?.addEventListener('abort', stop);
    try {
      if (running.child.stderr) createInterface({ input: running.child.stderr }).on('line', line);
      const exitReason = await running.exited;
      signal?.throwIfAborted();
      return exitReason;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}

const getEntryPath = (dir: string, { entry }: ExtraSpec): string => pathToFileURL(join(dir, 'node_modules', entry)).href;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
