import { type ProgramRun, runProgram } from './run-program.ts';

const ANSWER_MS = 5_000;
/** Python may be installed in the meantime. */
const MISSING_MS = 60_000;
const PROGRAMS = process.platform === 'win32' ? ['python', 'python3', 'py'] : ['python3', 'python'];

/** Finds this machine's Python. A version found is cached; otherwise it is looked for again after a minute. */
export class Python {
  readonly #options: Pick<ProgramRun, 'env' | 'keeper'>;
  #asked: { at: number; version: Promise<string | null> } | undefined;

  constructor(options: Pick<ProgramRun, 'env' | 'keeper'>) {
    this.#options = options;
  }

  /** Version such as `3.13.5`; null if there is no Python. */
  async version(): Promise<string | null> {
    const now = performance.now();
    this.#asked ??= { at: now, version: this.#ask() };
    const version = await this.#asked.version;
    if (version === null && now - this.#asked.at > MISSING_MS) this.#asked = undefined;
    return version;
  }

  async #ask(): Promise<string | null> {
    for (const program of PROGRAMS) {
      const { stdout, stderr, code } = await runProgram(program, ['--version'], { timeout: ANSWER_MS, ...this.#options });
      // Windows has a `python` that only opens its store.
      const version = code === 0 ? /Python (\d+\.\d+[\w.+]*)/.exec(`${stdout}${stderr}`)?.[1] : undefined;
      if (version !== undefined) return version;
    }
    return null;
  }
}
