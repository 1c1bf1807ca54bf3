import { type Agents, workspaceOf } from '../agents.ts';
import { isChannelSession } from '../channels/channel-session.ts';
import type { Clock } from '../clock.ts';
import { GUIDE_MODEL } from '../providers/providers.ts';
import { plainText } from '../sessions.ts';
import { getMessageSources } from '../trust/sources.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { formatDialogLine } from './dialog/dialog-lines.ts';
import { dateOf, dialogFile, startOf } from './layout.ts';
import type { Dialogs } from './with-dialogs.ts';

const DAY_MS = 86_400_000;
/** Tools whose results quote stored content. */
const QUOTING = /^(?:memory|wiki|session|docs)_/;

/** Number of days for which conversations are included. */
const DAYS = 30;

export interface SessionDialogsDeps {
  vault: { messages: Pick<Vault['messages'], 'between' | 'spans'> };
  clock: Pick<Clock, 'now'>;
  agents: Pick<Agents, 'list'>;
}

/**
 * The stored conversations of a workspace's agents as dialogs. Excludes channels, where anyone may write, and what the guide and search
 * tools have quoted.
 */
export function sessionDialogs(
  { vault, clock, agents }: SessionDialogsDeps,
  workspace: string,
  /** `reviewedOnly`: excludes messages written after reading untrusted content. */
  { reviewedOnly = false } = {},
): Dialogs {
  const { messages } = vault;
  const ids = (): string[] => agents.list().flatMap((agent) => (workspaceOf(agent) === workspace ? agent.id : []));
  const isRemembered = (message: MessageRecord): boolean => {
    const { sessionKey, role, name = '', model } = message;
    const [agentId = ''] = sessionKey.split('/');
    if (reviewedOnly && getMessageSources(message).length > 0) return false;
    // A quotation would rank above its source.
    const isQuoting = model === GUIDE_MODEL || (role === 'tool' && QUOTING.test(name));
    return ids().includes(agentId) && !isQuoting && !isChannelSession(sessionKey);
  };
  return {
    async days() {
      if (ids().length === 0) return [];
      const today = startOf(dateOf(clock.now())) ?? 0;
      const spans = Array.from({ length: DAYS }, (_, back) => ({ from: today - back * DAY_MS, to: today - (back - 1) * DAY_MS }));
      const found = await messages.spans(spans);
      return spans
        .flatMap(({ from }, at) => {
          const { count, newest } = found[at] ?? { count: 0, newest: null };
          return newest === null ? [] : { path: dialogFile(dateOf(from)), size: count, modifiedAt: newest };
        })
        .reverse();
    },
    async read(date) {
      const from = startOf(date);
      if (from === undefined) return undefined;
      const said = (await messages.between(from, from + DAY_MS)).filter(isRemembered);
      if (said.length === 0) return undefined;
      return said.map((message) => formatDialogLine({ ...message, content: shortened(message) }, message.sessionKey)).join('');
    },
  };
}

/** Tool results may be whole documents; their beginning is enough for search. */
const MOST_OF_RESULT = 8000;

function shortened({ role, content }: MessageRecord): string {
  const text = plainText(content);
  return role === 'tool' && text.length > MOST_OF_RESULT ? `${text.slice(0, MOST_OF_RESULT)} …` : text;
}
