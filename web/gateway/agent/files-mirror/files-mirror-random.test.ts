import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type Disk, nodeDisk } from '../../../../bridge/capabilities/files/disk.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createMirroredWorkspace } from '../../../../tests/support/mirrored-workspace.ts';

const PATHS = ['a', 'b.md', 'c', 'd/e', 'd/f', 'c/g'];
/** Files that are never deleted, so that the mirror suspects no accident. */
const STABLE_PATHS = ['s1', 's2', 's3', 's4', 's5', 's6', 's7'];

interface FileEdit {
  side: 'disk' | 'vault';
  kind: 'write' | 'remove' | 'rename';
  path: string;
  to: string;
}

const path = fc.constantFrom(...PATHS);
const arbitraryEdit: fc.Arbitrary<FileEdit> = fc.record({
  side: fc.constantFrom('disk', 'vault'),
  kind: fc.constantFrom('write', 'write', 'remove', 'rename'),
  path,
  to: path,
});
/** Edits of both sides before they are compared, and the number of the disk change at which syncing is interrupted. */
const arbitraryRound = fc.record({
  edits: fc.array(arbitraryEdit, { maxLength: 6 }),
  cutAt: fc.option(fc.nat({ max: 12 }), { nil: null }),
});

verifies(
  'mirror/nothing-lost',
  'random edits, renames and deletes on both sides, cut off in between',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryRound, { minLength: 1, maxLength: 4 }), async (rounds) => {
        let left: number | null = null;
        const change =
          <A extends unknown[]>(work: (...args: A) => Promise<void>) =>
          async (...args: A): Promise<void> => {
            if (left !== null && left-- <= 0) throw new Error('the machine is off');
            await work(...args);
          };
        const disk: Disk = { ...nodeDisk, rename: change(nodeDisk.rename), link: change(nodeDisk.link), rm: change(nodeDisk.rm) };
        await using at = await createMirroredWorkspace({ disk, isWatched: false });
        for (const staying of STABLE_PATHS) await at.write(staying, staying);
        await at.settle();
        let count = 0;
        for (const { edits, cutAt } of rounds) {
          /** Last version that each side wrote in this round and has not undone itself, by side and path. */
          const last = new Map<string, string>();
          for (const each of edits) {
            const content = `${each.side} ${++count}`;
            // No two are of the same millisecond.
            at.clock.advance(1);
            if (each.side === 'disk') editDisk(at.root, each, content, last);
            else await editVault(at, each, content, last);
          }
          left = cutAt;
          await at.settle();
          left = null;
          if (cutAt !== null) at.restart();
          const state = await at.settle();
          expect(state?.state).toBe('synced');
          const [held, stored] = [at.readDisk(), await at.readVault()];
          // The vault may have a file where the folder has a folder of that name: it is reported and skipped.
          const skipped = new Set(state?.skipped.map((each) => each.path));
          for (const name of new Set([...Object.keys(held), ...Object.keys(stored)]))
            if (!skipped.has(name)) expect(stored[name], name).toBe(held[name]);
          const contents = new Set([...Object.values(held), ...Object.values(stored)]);
          for (const [who, content] of last) expect(contents, who).toContain(content);
          for (const name of STABLE_PATHS) expect(held[name]).toBe(name);
        }
      }),
      { numRuns: 25 },
    );
  },
  100_000,
);

function editDisk(root: string, { kind, path: name, to }: FileEdit, content: string, last: Map<string, string>): void {
  const at = join(root, name);
  const isFile = existsSync(at) && statSync(at).isFile();
  try {
    if (kind === 'write') {
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, content);
      last.set(`disk ${name}`, content);
    } else if (kind === 'remove' && isFile) {
      rmSync(at);
      last.delete(`disk ${name}`);
    } else if (kind === 'rename' && isFile && name !== to) {
      mkdirSync(dirname(join(root, to)), { recursive: true });
      renameSync(at, join(root, to));
      const moved = last.get(`disk ${name}`);
      last.delete(`disk ${name}`);
      last.delete(`disk ${to}`);
      if (moved !== undefined) last.set(`disk ${to}`, moved);
    }
  } catch {
    // A folder has that name, or a file has that of a folder: the system reports it to the person.
  }
}

async function editVault(
  at: Awaited<ReturnType<typeof createMirroredWorkspace>>,
  { kind, path: name, to }: FileEdit,
  content: string,
  last: Map<string, string>,
): Promise<void> {
  const file = await at.vault.files.get('main', name);
  if (kind === 'write') {
    await at.write(name, content);
    last.set(`vault ${name}`, content);
  } else if (file && kind === 'remove') {
    await at.workspaces.remove('main', name);
    last.delete(`vault ${name}`);
  } else if (file && kind === 'rename' && name !== to) {
    await at.write(to, file.content);
    await at.workspaces.remove('main', name);
    last.delete(`vault ${name}`);
    last.set(`vault ${to}`, file.content);
  }
}
