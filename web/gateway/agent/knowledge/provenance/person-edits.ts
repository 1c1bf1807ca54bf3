import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE, parseNotesDate } from '../../../knowledge/memory/layout.ts';
import { type MemoryLine, parseMemories } from '../../../knowledge/memory/long-term.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import { getSummary } from '../../../knowledge/memory/summary/day-summary.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { ContentName, Provenance } from './provenance.ts';

interface PersonEditsDeps {
  vault: { files: Pick<Vault['files'], 'get'> };
  provenance: Lazy<Provenance>;
}

/** Records that a person edited memories or daily summaries in their files. Call it before the write, and the returned function after it. */
export async function trackPersonEdit(
  { vault, provenance }: PersonEditsDeps,
  workspace: string,
  paths: readonly string[],
): Promise<() => Promise<void>> {
  const tracked = paths.filter((path) => path === LONG_TERM_FILE || parseNotesDate(path) !== undefined);
  const readText = async (path: string): Promise<string> => toText(await vault.files.get(workspace, path));
  const before = new Map(await Promise.all(tracked.map(async (path) => [path, await readText(path)] as const)));
  return async () => {
    for (const [path, earlier] of before) {
      const text = await readText(path);
      if (text === earlier) continue;
      const date = parseNotesDate(path);
      if (date === undefined) await recordMemories(await provenance.load(), workspace, earlier, text);
      else await recordSummary(await provenance.load(), { workspace, kind: 'day', name: date }, text);
    }
  };
}

async function recordMemories(provenance: Provenance, workspace: string, before: string, after: string): Promise<void> {
  const [old, current] = [listMemories(before), listMemories(after)];
  const removed = [...old].filter(([id]) => !current.has(id));
  for (const [id, { text, createdAt }] of current) {
    if (old.has(id)) continue;
    const name: ContentName = { workspace, kind: 'memory', name: id };
    // An edited line keeps its time.
    const index = removed.findIndex(([, memory]) => memory.createdAt === createdAt);
    const [edited] = index === -1 ? [] : removed.splice(index, 1);
    if (edited) await provenance.rename({ ...name, name: edited[0] }, name, { text, by: 'person', createdAt });
    else await provenance.record(name, { text, by: 'person', createdAt });
  }
}

/** Only a summary whose origin is known gets a new version. */
async function recordSummary(provenance: Provenance, name: ContentName, notes: string): Promise<void> {
  const summary = getSummary(notes);
  if (summary !== undefined && (await provenance.get(name))) await provenance.record(name, { text: summary, by: 'person' });
}

const listMemories = (file: string): Map<string, MemoryLine> =>
  new Map(
    parseMemories(file).flatMap((block) => (block.kind === 'memory' ? [[toMemoryId(block.memory.text), block.memory] as const] : [])),
  );

const toText = (file: FileRecord | undefined): string => (file?.encoding === 'utf8' ? file.content : '');
