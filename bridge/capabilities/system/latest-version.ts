import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import { type RunProgramOptions, runProgram } from './run-program.ts';

const PACKAGE = 'perch';
const NOT_PUBLISHED = `The package registry has no package ${PACKAGE}. Update this copy from where you got it.`;
const REGISTRY_MS = 30_000;
const SUCCESS_CACHE_MS = 10 * 60_000;
const FAILURE_CACHE_MS = 30_000;

const publishedSchema = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+[\w.+-]*$/),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});
const errorSchema = z.object({ error: z.object({ code: z.string().optional(), summary: z.string().optional() }) });

interface LatestVersionResult {
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
  readonly #options: Omit<RunProgramOptions, 'timeout'>;
  #cached: { at: number; answer: Promise<LatestVersionResult> } | undefined;

  /** `cwd`: a folder without project settings. */
  constructor(options: Omit<RunProgramOptions, 'timeout'>) {
    this.#options = options;
  }

  /** A result is cached for ten minutes, a failure for half a minute. Never rejects. */
  async get(): Promise<LatestVersionResult> {
    const now = performance.now();
    if (this.#cached) {
      const answer = await this.#cached.answer;
      if (now - this.#cached.at < (answer.version === null ? FAILURE_CACHE_MS : SUCCESS_CACHE_MS)) return answer;
    }
    this.#cached = { at: now, answer: this.#queryRegistry() };
    return this.#cached.answer;
  }

  async #queryRegistry(): Promise<LatestVersionResult> {
    const npm = findNpm();
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
      `--fetch-timeout=${REGISTRY_MS / 2}`,
    ];
    const { stdout, code } = await runProgram(program, args, { timeout: REGISTRY_MS, ...this.#options });
    const output = parseJsonSafely(stdout);
    const found = publishedSchema.safeParse(output);
    if (code === 0 && found.success) {
      const { version, bin } = found.data;
      // The name may belong to someone else in a registry.
      if (typeof bin === 'object' && Object.hasOwn(bin, PACKAGE)) return { version };
      return { version: null, error: `The package ${PACKAGE} in the registry is another program.` };
    }
    const npmError = errorSchema.safeParse(output).data?.error;
    if (npmError?.code === 'E404') return { version: null, note: NOT_PUBLISHED };
    if (code === null) return { version: null, error: 'npm couldn’t be started or didn’t respond in time.' };
    // npm's summary may contain a registry's credentials, so only the code is passed on.
    return { version: null, error: `Couldn’t reach the registry${npmError?.code ? ` (${npmError.code})` : ''}.` };
  }
}

/** Program and first arguments for npm. On Windows npm is a script that requires a shell, so Node runs its JavaScript file instead. */
export function findNpm(): [program: string, ...args: string[]] | undefined {
  if (process.platform !== 'win32') return ['npm'];
  const file = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  return existsSync(file) ? [process.execPath, file] : undefined;
}

function parseJsonSafely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
