import { toMemoryText } from '../../../knowledge/dreaming/promoter.ts';
import { PromotionLog } from '../../../knowledge/dreaming/promotion-log.ts';
import { SIGNALS_FILE, SignalsStore } from '../../../knowledge/dreaming/signals-store.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE } from '../../../knowledge/memory/layout.ts';
import { parseMemories } from '../../../knowledge/memory/long-term.ts';
import type { Workspace } from '../../../knowledge/memory/workspace.ts';
import type { ProvenanceAuthor } from '../../../storage/records/provenance-record.ts';
import { findReferencedOrigins } from './find-origins.ts';
import type { FileExcerpt, NewVersion, OriginMessage, Provenance } from './provenance.ts';

interface RecordDreamsDeps {
  provenance: Provenance;
  /** The workspace's files and conversations, and its name. */
  workspace: Workspace;
  name: string;
}

interface RecordedDreams {
  by?: ProvenanceAuthor;
  /** Hash of the only suggestion to record; default: all. */
  only?: string;
  /** Report that a run has written. */
  reportPath?: string | undefined;
}

/** Records the sources of suggestions, of the memories that they became, and of a report. */
export async function recordDreams(deps: RecordDreamsDeps, { by = 'dreaming', only, reportPath }: RecordedDreams): Promise<void> {
  const { provenance, workspace, name } = deps;
  const known = new Set((await provenance.list(name, 'dream')).map(({ id }) => id));
  const { promotions } = await new PromotionLog(workspace).read();
  for (const promotion of promotions.values()) {
    const { contentHash, sourceRef, state } = promotion;
    if (only === undefined ? known.has(`${name}/dream/${contentHash}`) && state !== 'promoted' : only !== contentHash) continue;
    const text = toMemoryText(promotion);
    const origins = await findReferencedOrigins(workspace, sourceRef);
    await provenance.record({ workspace: name, kind: 'dream', name: contentHash }, { text, by, ...origins });
    if (state === 'promoted') await recordMemory(deps, text, { by, ...origins });
  }
  if (reportPath !== undefined) await recordReport(deps, reportPath);
}

/** Nothing is recorded for a memory that has a record, or was deleted since. */
async function recordMemory(
  { provenance, workspace, name }: RecordDreamsDeps,
  text: string,
  version: Omit<NewVersion, 'text'>,
): Promise<void> {
  const memory = { workspace: name, kind: 'memory', name: toMemoryId(text) } as const;
  if (await provenance.get(memory)) return;
  const blocks = parseMemories((await workspace.read(LONG_TERM_FILE)) ?? '');
  const found = blocks.find((block) => block.kind === 'memory' && toMemoryId(block.memory.text) === memory.name);
  if (found?.kind === 'memory') await provenance.record(memory, { ...version, text: found.memory.text, createdAt: found.memory.createdAt });
}

/** A report is made from all signals. */
async function recordReport({ provenance, workspace, name }: RecordDreamsDeps, path: string): Promise<void> {
  const text = await workspace.read(path);
  if (text === undefined || (await workspace.stat(SIGNALS_FILE)) === undefined) return;
  const refs = new Set((await new SignalsStore(workspace).getAllSignals()).map(({ sourceRef }) => sourceRef));
  const [messages, files] = [new Map<string, OriginMessage>(), [] as FileExcerpt[]];
  for (const ref of refs) {
    const origins = await findReferencedOrigins(workspace, ref);
    for (const message of origins.messages) messages.set(message.id, message);
    files.push(...origins.files);
  }
  await provenance.record(
    { workspace: name, kind: 'report', name: path },
    { text, by: 'dreaming', messages: [...messages.values()], files },
  );
}
