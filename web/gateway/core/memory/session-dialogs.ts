import { isChannelSession } from '../channels/channel-session.ts';
import type { Clock } from '../clock.ts';
import { GUIDE_MODEL } from '../providers/providers.ts';
import { plainText } from '../sessions.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { formatDialogLine } from './dialog/dialog-lines.ts';
import { dateOf, dialogFile, startOf } from './layout.ts';
import type { Dialogs } from './with-dialogs.ts';

const DAY_MS = 86_400_000;
/** Tools that give what is kept here. */
const QUOTING = /^(?:memory|wiki|session|docs)_/;

export interface SessionDialogsDeps {
  messages: Pick<Vault['messages'], 'between' | 'spans'>;
  clock: Pick<Clock, 'now'>;
  /** How many days back conversations are remembered. */
  days: number;
  /** Whether an agent's conversations are among them. */
  isOf(agentId: string): boolean;
}

/** The conversations of agents, as they are stored; not those of channels, where anybody may have written, nor what the guide and searches have
 * quoted. */
export function sessionDialogs({ messages, clock, days, isOf }: SessionDialogsDeps): Dialogs {
  const isRemembered = ({ sessionKey, role, name = '', model }: MessageRecord): boolean => {
    const [agentId = ''] = sessionKey.split('/');
    // What quotes that which is known would stand before what it was taken from.
    const isQuoting = model === GUIDE_MODEL || (role === 'tool' && QUOTING.test(name));
    return isOf(agentId) && !isQuoting && !isChannelSession(sessionKey);
  };
  return {
    async days() {
      const today = startOf(dateOf(clock.now())) ?? 0;
      const spans = Array.from({ length: days }, (_, back) => ({ from: today - back * DAY_MS, to: today - (back - 1) * DAY_MS }));
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
