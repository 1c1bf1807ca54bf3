import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Mutex } from '#shared/async/mutex.ts';
import { z } from '#shared/rpc/zod.ts';
import { readFileIfExists, writeFileAtomically } from '../../home-directory.ts';

/** Maximum number of approved roots; the oldest are dropped. */
const MAX_ROOTS = 1000;

const fileSchema = z.object({ version: z.literal(1), roots: z.array(z.object({ path: z.string(), at: z.number() })) });
type ApprovedRoot = z.infer<typeof fileSchema>['roots'][number];

/**
 * Folders and files that a person allowed to be read, in `folders-approved.json` of the bridge's home (mode 0600). Not part of the vault:
 * another computer of the vault can't approve a folder of this one.
 */
export class ApprovedRoots {
  readonly #path: string;
  readonly #mutex = new Mutex();

  constructor(home: string) {
    this.#path = join(home, 'folders-approved.json');
  }

  has(root: string): Promise<boolean> {
    return this.#mutex.run(async () => (await this.#read()).some(({ path }) => path === root));
  }

  /** Resolves once the approval is on disk. */
  add(root: string): Promise<void> {
    return this.#mutex.run(async () => {
      const roots = await this.#read();
      if (!roots.some(({ path }) => path === root)) await this.#write([...roots, { path: root, at: Date.now() }].slice(-MAX_ROOTS));
    });
  }

  /** False if it was not approved. */
  remove(root: string): Promise<boolean> {
    return this.#mutex.run(async () => {
      const roots = await this.#read();
      const rest = roots.filter(({ path }) => path !== root);
      if (rest.length < roots.length) await this.#write(rest);
      return rest.length < roots.length;
    });
  }

  #write(roots: ApprovedRoot[]): Promise<void> {
    return writeFileAtomically(
      this.#path,
      `${JSON.stringify({ version: 1, roots } satisfies z.infer<typeof fileSchema>, null, 2)}\n`,
      rename,
    );
  }

  async #read(): Promise<ApprovedRoot[]> {
    const text = await readFileIfExists(this.#path);
    if (text === undefined) return [];
    try {
      return fileSchema.parse(JSON.parse(text)).roots;
    } catch {
      // A damaged file is not trusted: its folders need approval again.
      return [];
    }
  }
}
