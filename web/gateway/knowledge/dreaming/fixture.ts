import { memoryWorkspace, type Workspace } from '../memory/workspace.ts';
import { DreamingConfig, type DreamingConfigInput } from './dreaming-config.ts';
import { type DreamingOptions, DreamingPhases } from './dreaming-phases.ts';
import { DAY_MS } from './signal.ts';

/** 3 a.m., the scheduled time. */
export const NOW = Date.UTC(2026, 10, 22, 3);

/** A workspace with files. */
export async function createWorkspace(files: Record<string, string>): Promise<Workspace> {
  const workspace = memoryWorkspace(() => NOW);
  for (const [path, text] of Object.entries(files)) await workspace.write(path, text);
  return workspace;
}

export const toDialogLines = (...records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

export const createPhases = (workspace: Workspace, config: DreamingConfigInput = {}, options: DreamingOptions = {}): DreamingPhases =>
  new DreamingPhases(workspace, new DreamingConfig({ minScore: 0.1, ...config }), { now: () => NOW, ...options });

/** Records a content as found by two queries on two days, which is enough for promotion. */
export async function recordRecalls({ signals }: DreamingPhases, content: string, sourceRef: string, score = 0.9): Promise<string> {
  const [, signal] = await signals.note(
    ['what was it', 'tell me again'].map((query, index) => ({
      content,
      sourceRef,
      query: `${query}: ${content}`,
      score,
      at: NOW - (3 - index) * DAY_MS,
    })),
  );
  return signal?.contentHash ?? '';
}
