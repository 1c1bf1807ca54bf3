import { type Agents, getWorkspaceName } from '../../agents.ts';
import { listForgottenMessages } from '../../forgetting/forgotten-messages.ts';
import { createChatFilter, listOwnMemoryChats } from '../../projects/memory-chats.ts';
import { findProjectId } from '../../../storage/records/project-record.ts';
import { isChannelSession } from '../../../system/channel-session.ts';
import type { Clock } from '#shared/async/clock.ts';
import { GUIDE_MODEL } from '../../../providers/providers.ts';
import { isSubAgentSession, toPlainText } from '../../../storage/session-views.ts';
import { getMessageSources } from '../../trust/content-sources.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { MessageRecord } from '../../../storage/chat-records.ts';
import { formatDialogLine } from '../../../knowledge/memory/dialog/dialog-lines.ts';
import { hashText } from '../../../knowledge/search/columns/string-column.ts';
import { formatDate, toDialogPath, getDayStart } from '../../../knowledge/memory/layout.ts';
import type { DialogSource } from '../../../knowledge/memory/with-dialogs.ts';

const DAY_MS = 86_400_000;
/** Tools whose results quote stored content. */
const QUOTING_TOOLS = /^(?:memory|wiki|session|docs)_/;

/** Upper bound of the number that stands for the chats of projects in the size of a day. */
const MAX_ASSIGNMENT = 1_000_000;

/** Number of days for which conversations are included. */
const MAX_DAYS = 30;

interface SessionDialogsDeps {
  vault: Pick<Vault, 'collection' | 'sessions'> & { messages: Pick<Vault['messages'], 'listBetween' | 'countSpans'> };
  clock: Pick<Clock, 'now'>;
  agents: Pick<Agents, 'list'>;
}

/**
 * The stored conversations of a workspace's agents, or of the project whose workspace it is, as dialogs. Excludes channels, where anyone
 * may write, sub-agents, whose tasks agents write, and what the guide and search tools have quoted.
 */
export function createSessionDialogs(
  { vault, clock, agents }: SessionDialogsDeps,
  workspace: string,
  /** `reviewedOnly`: excludes messages written after reading untrusted content. */
  { reviewedOnly = false } = {},
): DialogSource {
  const { messages } = vault;
  const hasChats = (): boolean =>
    findProjectId(workspace) !== undefined || agents.list().some((agent) => getWorkspaceName(agent) === workspace);
  const isRemembered = (message: MessageRecord): boolean => {
    const { sessionKey, role, name = '', model } = message;
    if (reviewedOnly && getMessageSources(message).length > 0) return false;
    // A quotation would rank above its source.
    const isQuoting = model === GUIDE_MODEL || (role === 'tool' && QUOTING_TOOLS.test(name));
    return !isQuoting && !isChannelSession(sessionKey) && !isSubAgentSession(sessionKey);
  };
  return {
    async days() {
      if (!hasChats()) return [];
      const today = getDayStart(formatDate(clock.now())) ?? 0;
      const spans = Array.from({ length: MAX_DAYS }, (_, back) => ({ from: today - back * DAY_MS, to: today - (back - 1) * DAY_MS }));
      const [found, others, excluded] = await Promise.all([
        messages.countSpans(spans),
        listOwnMemoryChats(vault),
        listForgottenMessages(vault),
      ]);
      // A chat that moves to or from a project, or messages that are forgotten, change the days too, without a new message.
      const assignment =
        others.size + excluded.size === 0
          ? 0
          : Math.abs(hashText([...others].toSorted(([a], [b]) => (a < b ? -1 : 1)).join() + [...excluded].sort().join()) % MAX_ASSIGNMENT);
      return spans
        .flatMap(({ from }, index) => {
          const { count, newest } = found[index] ?? { count: 0, newest: null };
          return newest === null ? [] : { path: toDialogPath(formatDate(from)), size: count + assignment, modifiedAt: newest };
        })
        .reverse();
    },
    async read(date) {
      const from = getDayStart(date);
      if (from === undefined) return undefined;
      const [isOwn, excluded] = await Promise.all([createChatFilter({ vault, agents }, workspace), listForgottenMessages(vault)]);
      const remembered = (await messages.listBetween(from, from + DAY_MS)).filter(
        (message) => isOwn(message.sessionKey) && !excluded.has(message.id) && isRemembered(message),
      );
      if (remembered.length === 0) return undefined;
      return remembered.map((message) => formatDialogLine({ ...message, content: truncateContent(message) }, message.sessionKey)).join('');
    },
  };
}

/** Tool results may be whole documents; their beginning is enough for search. */
const MAX_RESULT_CHARS = 8000;

function truncateContent({ role, content }: MessageRecord): string {
  const text = toPlainText(content);
  return role === 'tool' && text.length > MAX_RESULT_CHARS ? `${text.slice(0, MAX_RESULT_CHARS)} …` : text;
}
