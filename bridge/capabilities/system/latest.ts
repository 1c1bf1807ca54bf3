import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import { type ProgramRun, runProgram } from './run-program.ts';

const PACKAGE = 'perch';
const NOT_PUBLISHED = `The package registry has no package ${PACKAGE}. Update this copy from where you got it.`;
const ANSWER_MS = 30_000;
const KNOWN_MS = 10 * 60_000;
const UNKNOWN_MS = 30_000;

const published = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+[\w.+-]*$/),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});
const refusal = z.object({ error: z.object({ code: z.string().optional(), summary: z.string().optional() }) });

export interface Latest {
  version: string | null;
  error?: string;
  /** Why there is no version, if nothing failed. */
  note?: string;
}

/**
 * Finds the newest version in the registry configured for this user's npm. Runs npm itself, which handles proxies, certificates and
 * credentials.
 */
export class LatestVersion {
  readonly #options: Omit<ProgramRun, 'timeout'>;
  #asked: { at: number; answer: Promise<Latest> } | undefined;

  /** `cwd`: a folder without project settings. */
  constructor(options: Omit<ProgramRun, 'timeout'>) {
    this.#options = options;
  }

  /** A result is cached for ten minutes, a failure for half a minute. Never rejects. */
  async ask(): Promise<Latest> {
    const now = performance.now();
    if (this.#asked) {
      const answer = await this.#asked.answer;
      if (now - this.#asked.at < (answer.version === null ? UNKNOWN_MS : KNOWN_MS)) return answer;
    }
    this.#asked = { at: now, answer: this.#look() };
    return this.#asked.answer;
  }

  async #look(): Promise<Latest> {
    const npm = npmProgram();
    if (!npm) return { version: null, error: 'npm is not installed on the bridge’s computer.' };
    const [program, ...first] = npm;
    const args = [
      ...first,
      'view',
      PACKAGE,
      'version',
      'bin',
      '--json',
      '--no-update-notifier',
      '--fetch-retries=0',
      `--fetch-timeout=${ANSWER_MS / 2}`,
    ];
    const { stdout, code } = await runProgram(program, args, { timeout: ANSWER_MS, ...this.#options });
    const said = jsonOf(stdout);
    const found = published.safeParse(said);
    if (code === 0 && found.success) {
      const { version, bin } = found.data;
      // The name may belong to someone else in a registry.
      if (typeof bin === 'object' && Object.hasOwn(bin, PACKAGE)) return { version };
      return { version: null, error: `The package ${PACKAGE} in the registry is another program.` };
    }
    const why = refusal.safeParse(said).data?.error;
    if (why?.code === 'E404') return { version: null, note: NOT_PUBLISHED };
    if (code === null) return { version: null, error: 'npm couldn’t be started or didn’t respond in time.' };
    // npm's summary may contain a registry's credentials, so only the code is passed on.
    return { version: null, error: `Couldn’t reach the registry${why?.code ? ` (${why.code})` : ''}.` };
  }
}

/** Program and first arguments for npm. On Windows npm is a script that requires a shell, so Node runs its JavaScript file instead. */
export function npmProgram(): [program: string, ...args: string[]] | undefined {
  if (process.platform !== 'win32') return ['npm'];
  const file = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  return existsSync(file) ? [process.execPath, file] : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
