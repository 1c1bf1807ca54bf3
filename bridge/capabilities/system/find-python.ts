import { type RunProgramOptions, runProgram } from './run-program.ts';

const VERSION_MS = 5_000;
/** Python may be installed in the meantime. */
const MISSING_CACHE_MS = 60_000;
const PROGRAMS = process.platform === 'win32' ? ['python', 'python3', 'py'] : ['python3', 'python'];

/** Finds this machine's Python. A version found is cached; otherwise it is looked for again after a minute. */
export class PythonFinder {
  readonly #options: Pick<RunProgramOptions, 'env' | 'keeper'>;
  #cached: { at: number; getVersion: Promise<string | null> } | undefined;

  constructor(options: Pick<RunProgramOptions, 'env' | 'keeper'>) {
    this.#options = options;
  }

  /** Version such as `3.13.5`; null if there is no Python. */
  async version(): Promise<string | null> {
    const now = performance.now();
    this.#cached ??= { at: now, getVersion: this.#findVersion() };
    const version = await this.#cached.getVersion;
    if (version === null && now - this.#cached.at > MISSING_CACHE_MS) this.#cached = undefined;
    return version;
  }

  async #findVersion(): Promise<string | null> {
    for (const program of PROGRAMS) {
      const { stdout, stderr, code } = await runProgram(program, ['--version'], { timeout: VERSION_MS, ...this.#options });
      // Windows has a `python` that only opens its store.
      const version = code === 0 ? /Python (\d+\.\d+[\w.+]*)/.exec(`${stdout}${stderr}`)?.[1] : undefined;
      if (version !== undefined) return version;
    }
    return null;
  }
}
