import { createHash } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolServerCommand } from '#shared/ports/mcp.ts';
import { z } from '#shared/rpc/zod.ts';
import { readIfThere, writeWhole } from '../../home.ts';

/** Commands that are remembered, the newest. */
const KEPT = 1000;

const approval = z.object({
  hash: z.string(),
  at: z.number(),
  /** The person approved the command in an older build, which did not see the bytes. */
  isEarlier: z.boolean().optional(),
});
const file = z.object({ version: z.literal(1), approved: z.array(approval) });
type Approved = z.infer<typeof file>['approved'];

/** What an approval binds to: nothing of it can change without another. */
export function commandHash({ command, args, env, cwd }: ToolServerCommand): string {
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify({ version: 1, command, args, env: entries, cwd: cwd ?? null }))
    .digest('hex');
}

/** The same bound to the bytes of its programs and scripts too. */
export const codeBoundHash = (commandHash: string, codeHash: string): string =>
  createHash('sha256')
    .update(JSON.stringify({ version: 2, commandHash, codeHash }))
    .digest('hex');

/** The commands of tool servers that may be started, in `mcp-approved.json` of the bridge's home (0600). */
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

  /** Durable once it resolves. */
  add(hash: string): Promise<void> {
    const work = this.#tail.then(async () => {
      const before = await this.#read();
      if (before.some((each) => each.hash === hash)) return;
      await this.#write([...before, { hash, at: Date.now() }].slice(-KEPT));
    });
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Puts a hash in the place of one of an older build. False if that one is not there. Durable once it resolves. */
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
      // Nothing in a damaged file can be relied on: what it approved waits for a person again.
      return [];
    }
  }
}
