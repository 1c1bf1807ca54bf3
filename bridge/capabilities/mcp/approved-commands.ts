import { createHash } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServerCommand } from '#shared/ports/mcp-port.ts';
import { z } from '#shared/rpc/zod.ts';
import { readFileIfExists, writeFileAtomically } from '../../home-directory.ts';

/** Maximum number of approved commands to keep; the oldest are dropped. */
const MAX_APPROVALS = 1000;

const approvalSchema = z.object({
  hash: z.string(),
  at: z.number(),
  /** Whether the user approved the command in an older build, which did not check the bytes. */
  isEarlier: z.boolean().optional(),
});
const fileSchema = z.object({ version: z.literal(1), approved: z.array(approvalSchema) });
type ApprovalList = z.infer<typeof fileSchema>['approved'];

/** Hash of a command's parts that an approval covers: changing any of them changes the hash. */
export function computeCommandHash({ command, args, env, cwd }: McpServerCommand): string {
  const entries = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify({ version: 1, command, args, env: entries, cwd: cwd ?? null }))
    .digest('hex');
}

/** The hash that also covers the bytes of the command's programs and scripts. */
export const computeCodeBoundHash = (commandHash: string, codeHash: string): string =>
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

  async find(hash: string): Promise<z.infer<typeof approvalSchema> | undefined> {
    await this.#tail;
    return (await this.#read()).find((each) => each.hash === hash);
  }

  /** Resolves once the approval is on disk. */
  add(hash: string): Promise<void> {
    const work = this.#tail.then(async () => {
      const before = await this.#read();
      if (before.some((each) => each.hash === hash)) return;
      await this.#write([...before, { hash, at: Date.now() }].slice(-MAX_APPROVALS));
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

  #write(approved: ApprovalList): Promise<void> {
    return writeFileAtomically(
      this.#path,
      `${JSON.stringify({ version: 1, approved } satisfies z.infer<typeof fileSchema>, null, 2)}\n`,
      rename,
    );
  }

  async #read(): Promise<ApprovalList> {
    const text = await readFileIfExists(this.#path);
    if (text === undefined) return [];
    try {
      return fileSchema.parse(JSON.parse(text)).approved;
    } catch {
      // A damaged file is not trusted: its commands need approval again.
      return [];
    }
  }
}
