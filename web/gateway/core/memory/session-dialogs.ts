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
/** Tools that give what is kept here. */
const QUOTING = /^(?:memory|wiki|session|docs)_/;

/** How many days back conversations are remembered. */
const DAYS = 30;

export interface SessionDialogsDeps {
  vault: { messages: Pick<Vault['messages'], 'between' | 'spans'> };
  clock: Pick<Clock, 'now'>;
  agents: Pick<Agents, 'list'>;
}

/** The conversations of the agents of a workspace, as they are stored; not those of channels, where anybody may have written, nor what the guide and searches have
 * quoted. */
export function sessionDialogs(
  { vault, clock, agents }: SessionDialogsDeps,
  workspace: string,
  /** Leave out messages that were written after reading from outside. */
  { reviewedOnly = false } = {},
): Dialogs {
  const { messages } = vault;
  const ids = (): string[] => agents.list().flatMap((agent) => (workspaceOf(agent) === workspace ? agent.id : []));
  const isRemembered = (message: MessageRecord): boolean => {
    const { sessionKey, role, name = '', model } = message;
    const [agentId = ''] = sessionKey.split('/');
    if (reviewedOnly && getMessageSources(message).length > 0) return false;
    // What quotes that which is known would stand before what it was taken from.
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

/** What tools return may be whole documents: their beginning is enough to find them by. */
const MOST_OF_RESULT = 8000;

function shortened({ role, content }: MessageRecord): string {
  const text = plainText(content);
  return role === 'tool' && text.length > MOST_OF_RESULT ? `${text.slice(0, MOST_OF_RESULT)} …` : text;
}
