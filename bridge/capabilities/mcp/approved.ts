import { createHash } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolServerCommand } from '#shared/ports/mcp.ts';
import { z } from '#shared/rpc/zod.ts';
import { readIfThere, writeWhole } from '../../home.ts';

/** Maximum number of approved commands to keep; the oldest are dropped. */
const KEPT = 1000;

const approval = z.object({
  hash: z.string(),
  at: z.number(),
  /** Whether the user approved the command in an older build, which did not check the bytes. */
  isEarlier: z.boolean().optional(),
});
const file = z.object({ version: z.literal(1), approved: z.array(approval) });
type Approved = z.infer<typeof file>['approved'];

/** Hash of a command's parts that an approval covers: changing any of them changes the hash. */
export function commandHash({ command, args, env, cwd }: ToolServerCommand): string {
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify({ version: 1, command, args, env: entries, cwd: cwd ?? null }))
    .digest('hex');
}

/** The hash that also covers the bytes of the command's programs and scripts. */
export const codeBoundHash = (commandHash: string, codeHash: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ version: 2, commandHash, codeHash }))
    .digest('hex');

/** The approved commands of MCP servers, in `mcp-approved.json` of the bridge's home (mode 0600). */
export class ApprovedCommands {
  readonly #path: string;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(home: string) {
    this.#path = join(home, 'mcp-approved.json');
  }

  async find(hash: string): Promise<z.infer<typeof approval> | undefined> {
    await this.#tail;
    return (await this.#read()).find((each) => each.hash === hash);
  }

  /** Resolves once the approval is on disk. */
  add(hash: string): Promise<void> {
    const work = this.#tail.then(async () => {
      const before = await this.#read();
      if (before.some((each) => each.hash === hash)) return;
      await this.#write([...before, { hash, at: Date.now() }].slice(-KEPT));
    });
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Replaces an older build's hash. Resolves to false if it is missing, and to true once the change is on disk. */
  replaceEarlier(before: string, after: string): Promise<boolean> {
    const work = this.#tail.then(async () => {
      const all = await this.#read();
      if (!all.some(({ hash }) => hash === before)) return false;
      await this.#write([...all.filter(({ hash }) => hash !== before && hash !== after), { hash: after, at: Date.now(), isEarlier: true }]);
      return true;
    });
    this.#tail = work.catch(() => {});
    return work;
  }

  #write(approved: Approved): Promise<void> {
    return writeWhole(this.#path, `${JSON.stringify({ version: 1, approved } satisfies z.infer<typeof file>, null, 2)}\n`, rename);
  }

  async #read(): Promise<Approved> {
    const text = await readIfThere(this.#path);
    if (text === undefined) return [];
    try {
      return file.parse(JSON.parse(text)).approved;
    } catch {
      // A damaged file is not trusted: its commands need approval again.
      return [];
    }
  }
}
