import { createLocalTime } from '#shared/local-time.ts';
import { toNotesPath } from '../../../knowledge/memory/layout.ts';
import { getSummary, readDayLines } from '../../../knowledge/memory/summary/day-summary.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { AgentMemories } from '../memory/agent-memories.ts';
import { toOriginMessages } from './find-origins.ts';
import type { Provenance } from './provenance.ts';

interface RecordDayDeps {
  memories: Lazy<Pick<AgentMemories, 'getReviewedWorkspace' | 'getWorkspaceName'>>;
  provenance: Lazy<Provenance>;
  timeZone(): string;
}

/** Records the messages that the summary of a day was just made from. */
export async function recordDay({ memories, provenance, timeZone }: RecordDayDeps, agentId: string, date: string): Promise<void> {
  const loaded = await memories.load();
  const workspace = loaded.getReviewedWorkspace(agentId);
  const text = getSummary((await workspace.read(toNotesPath(date))) ?? '');
  if (text === undefined) return;
  const time = createLocalTime(timeZone());
  const lines = (await readDayLines(workspace, date, (at) => time(at).date)).filter(
    ({ message: { role } }) => role === 'user' || role === 'assistant',
  );
  const version = { text, by: 'summary', messages: toOriginMessages(lines) } as const;
  await (await provenance.load()).record({ workspace: loaded.getWorkspaceName(agentId), kind: 'day', name: date }, version);
}
