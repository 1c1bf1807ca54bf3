import type { MemoryChange } from '../../../knowledge/dreaming/exam/memory-change.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import { type MemoryLine, parseMemories } from '../../../knowledge/memory/long-term.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import { findReferencedOrigins } from './find-origins.ts';
import type { NewVersion, Provenance } from './provenance.ts';

interface RecordChangesDeps {
  provenance: Provenance;
  /** The workspace's files and conversations, and its name. */
  workspace: Workspace;
  name: string;
}

/**
 * Records the memories that changes of dreaming have written or, if undone, restored: each continues the chain of the memory that it
 * replaces, with the messages of its source. Changes are in the order in which they were made; recording one again changes nothing.
 */
export async function recordChanges(deps: RecordChangesDeps, changes: readonly MemoryChange[]): Promise<void> {
  for (const { state, removed, added, sourceRef } of changes) {
    if (state === 'applied') await recordReplacement(deps, removed, added, { by: 'dreaming', ...(await findOrigins(deps, sourceRef)) });
    else if (state === 'undone') await recordReplacement(deps, added, removed, { by: 'person' });
  }
}

/** A statement of the long-term memory itself names no message. */
const findOrigins = async ({ workspace }: RecordChangesDeps, sourceRef: string): Promise<Pick<NewVersion, 'messages' | 'files'>> =>
  sourceRef === LONG_TERM_FILE ? {} : findReferencedOrigins(workspace, sourceRef);

/** Nothing is recorded for a memory that has a record, or was deleted since. */
async function recordReplacement(
  { provenance, workspace, name }: RecordChangesDeps,
  before: readonly MemoryLine[],
  after: readonly MemoryLine[],
  version: Omit<NewVersion, 'text'>,
): Promise<void> {
  if (after.length === 0) return;
  const blocks = parseMemories((await workspace.read(LONG_TERM_FILE)) ?? '');
  const memories = new Map(
    blocks.flatMap((block) => (block.kind === 'memory' ? [[toMemoryId(block.memory.text), block.memory] as const] : [])),
  );
  const replaced = before.map(({ text }) => toMemoryId(text)).find((id) => !memories.has(id));
  for (const line of after) {
    const memory = memories.get(toMemoryId(line.text));
    const content = { workspace: name, kind: 'memory', name: toMemoryId(line.text) } as const;
    if (!memory || (await provenance.get(content))) continue;
    const written: NewVersion = { ...version, text: memory.text, createdAt: memory.createdAt };
    if (replaced === undefined) await provenance.record(content, written);
    else await provenance.rename({ ...content, name: replaced }, content, written);
  }
}
