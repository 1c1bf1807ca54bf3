import { matchesWildcard } from '#shared/wildcard.ts';
import type { Agent } from '../../agents.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { SessionRecord } from '../../../storage/chat-records.ts';

/** The memory search tool. An agent that may not use it gets no recalled memories either, unless its `memory` setting allows it. */
const SEARCH_TOOL = 'memory_search';

/** Whether memory is searched before replies in a session; if not, `reason` explains why. */
export function getRecallState(
  { id, config: { memory, tools } }: Agent,
  session: Pick<SessionRecord, 'recall'>,
  { memory: { recall } }: Settings,
): { active: boolean; reason: string | null } {
  const not = (reason: string): { active: boolean; reason: string } => ({ active: false, reason });
  const matches = (patterns: readonly string[] | undefined): boolean =>
    patterns?.some((pattern) => matchesWildcard(pattern, SEARCH_TOOL)) === true;
  if (!recall.enabled) return not('Off for all chats (memory.recall.enabled)');
  if (memory === false) return not(`Agent ${id} has memory turned off (agents.${id}.memory)`);
  if (memory === undefined && ((tools?.allow && !matches(tools.allow)) || matches(tools?.deny)))
    return not(`Agent ${id} is not allowed to use ${SEARCH_TOOL} (agents.${id}.tools)`);
  if (session.recall === false) return not('Off for this chat');
  return { active: true, reason: null };
}
