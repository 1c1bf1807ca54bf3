import { type Clock, systemClock } from '#shared/async/clock.ts';
import { type ircPort, type IrcServer, MAX_IRC_TEXT_BYTES } from '#shared/ports/irc-port.ts';
import { isLoopbackHost } from '../loopback-host.ts';
import type { PortHandlers } from '../serve-port.ts';
import { createIrcError } from './irc-errors.ts';
import { IrcSession, isUnsent } from './irc-session.ts';

/** Connections are closed after this time without a call: hosts take over from each other sooner. */
const IDLE_MS = 90_000;

interface IrcCapability {
  handlers: PortHandlers<(typeof ircPort)['calls'], (typeof ircPort)['events']>;
  close(): void;
}

interface OpenSession {
  server: IrcServer;
  session: IrcSession;
  callCount: number;
  cancelIdle: () => void;
}

/** IRC. Keeps the connection to a server between calls. */
export function createIrcCapability({ clock = systemClock }: { clock?: Clock } = {}): IrcCapability {
  const sessions = new Map<string, OpenSession>();

  const drop = (key: string): void => {
    const open = sessions.get(key);
    sessions.delete(key);
    open?.cancelIdle();
    open?.session.close();
  };

  function open(server: IrcServer): OpenSession {
    if (!server.isSecure && !isLoopbackHost(server.host))
      throw createIrcError(`Perch connects to ${server.host} by TLS only. Use port 6697, or "ircs://" before the name.`, { reason: 'tls' });
    const key = JSON.stringify(server);
    const current = sessions.get(key);
    if (current) return current;
    // With other settings: the nickname has to be free.
    const isSame = (other: IrcServer): boolean => other.host === server.host && other.port === server.port && other.nick === server.nick;
    for (const [otherKey, other] of sessions) if (isSame(other.server)) drop(otherKey);
    const created: OpenSession = { server, session: new IrcSession(server, clock), callCount: 0, cancelIdle: () => {} };
    sessions.set(key, created);
    return created;
  }

  async function use<T>(server: IrcServer, work: (session: IrcSession) => Promise<T>): Promise<T> {
    const entry = open(server);
    entry.callCount++;
    entry.cancelIdle();
    try {
      return await work(entry.session);
    } finally {
      const key = JSON.stringify(server);
      if (--entry.callCount === 0 && sessions.get(key) === entry) entry.cancelIdle = clock.after(IDLE_MS, () => drop(key));
    }
  }

  return {
    handlers: {
      'irc.poll': ({ server, after, waitMs }, { signal }) => use(server, (session) => session.poll(after, waitMs, signal)),
      'irc.send': async ({ server, id, to, text }) => {
        if (Buffer.byteLength(text) > MAX_IRC_TEXT_BYTES)
          throw createIrcError('The text is too long for a line.', { reason: 'rejected', refused: true });
        return use(server, (session) => session.send(id, to, text));
      },
      'irc.find': ({ server, id }) =>
        use(server, async (session) => {
          const outcome = await session.find(id);
          if (!outcome) return { outcome: 'unknown' };
          if ('sentId' in outcome) return { outcome: 'sent', sentId: outcome.sentId };
          return { outcome: isUnsent(outcome.error) ? 'unsent' : 'unknown' };
        }),
    },
    close() {
      for (const key of sessions.keys()) drop(key);
    },
  };
}
