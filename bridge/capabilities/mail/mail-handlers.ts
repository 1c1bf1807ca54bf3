import { createHash } from 'node:crypto';
import type { ImapFlow } from 'imapflow';
import type { mailPort, MailServer } from '#shared/ports/mail-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { PortHandlers } from '../serve-port.ts';
import { connectImap, ImapSession } from './imap-session.ts';
import { createServerError, toImapError } from './mail-errors.ts';
import { composeMail, sendBySmtp } from './smtp-sender.ts';

/** Connections are closed after this time without a call. */
const IDLE_MS = 120_000;
const COPY_TIMEOUT_MS = 30_000;
/** Servers that file a copy of what is sent through them: Outlook tells so by nothing else than its name. */
const FILING_HOSTS = /(^|\.)(office365|outlook)\.com$/i;

interface MailCapability {
  handlers: PortHandlers<(typeof mailPort)['calls'], (typeof mailPort)['events']>;
  close(): void;
}

interface OpenSession {
  session: ImapSession;
  isBusy: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** E-mail by IMAP and SMTP. Keeps the connection to a folder between calls. */
export function createMailCapability({ log, now = Date.now }: { log(line: string): void; now?: () => number }): MailCapability {
  const sessions = new Map<string, OpenSession>();

  async function useFolder<T>(
    server: MailServer,
    folder: string,
    signal: AbortSignal,
    work: (session: ImapSession) => Promise<T>,
  ): Promise<T> {
    const key = createHash('sha256')
      .update(JSON.stringify([server, folder]))
      .digest('hex');
    const kept = sessions.get(key);
    // Two calls never share a connection.
    const isFree = kept !== undefined && !kept.isBusy && kept.session.isUsable;
    const entry: OpenSession = isFree ? kept : { session: await ImapSession.open(server, folder, signal), isBusy: true, timer: undefined };
    entry.isBusy = true;
    clearTimeout(entry.timer);
    const drop = (): void => {
      entry.session.close();
      if (sessions.get(key) === entry) sessions.delete(key);
    };
    const isKept = isFree || kept === undefined || !kept.session.isUsable;
    if (isKept) sessions.set(key, entry);
    try {
      const result = await work(entry.session);
      if (!isKept) drop();
      return result;
    } catch (error) {
      drop();
      // A connection that was lost since the last call is noticed by the first command.
      if (isFree && isLost(error) && !signal.aborted) return await useFolder(server, folder, signal, work);
      throw error;
    } finally {
      entry.isBusy = false;
      if (sessions.get(key) === entry) entry.timer = setTimeout(drop, IDLE_MS).unref();
    }
  }

  return {
    handlers: {
      'mail.poll': ({ server, folder, after, waitMs }, { signal }) =>
        useFolder(server, folder, signal, (session) => session.poll(after, { waitMs, now: now(), signal })),

      async 'mail.fetch'({ server, folder, uidValidity, uid }, { signal }) {
        const source = await useFolder(server, folder, signal, (session) => session.fetch(uidValidity, uid));
        if (!source) throw new RpcError('NOT_FOUND', 'The mail is not in the folder any more.');
        return { source: source.toString('base64') };
      },

      'mail.find': ({ server, messageId }, { signal }) =>
        useSentFolder(server, signal, async (client, folder) => ({
          isFound: folder !== undefined && (await includesMail(client, folder, messageId)),
        })),

      async 'mail.verify'({ server }, { signal }) {
        await sendBySmtp(server, signal);
        return {};
      },

      async 'mail.send'({ server, copyTo, mail }, { signal }) {
        const source = await composeMail(mail);
        const sent = await sendBySmtp(server, signal, { mail, source });
        // Not awaited: the mail is sent, whether or not a copy can be filed.
        void fileCopy(copyTo, source, mail.messageId).catch((error: unknown) =>
          log(`mail: Couldn’t file a copy of a sent mail: ${error instanceof Error ? error.message : String(error)}`),
        );
        return sent;
      },
    },
    close() {
      for (const { session, timer } of sessions.values()) {
        clearTimeout(timer);
        session.close();
      }
      sessions.clear();
    },
  };
}

const isLost = (error: unknown): boolean => error instanceof RpcError && error.extra.details?.['reason'] === 'lost';

/** Files a copy among the sent mails, unless the server has done so. */
async function fileCopy(server: MailServer, source: Buffer, messageId: string): Promise<void> {
  if (FILING_HOSTS.test(server.host)) return;
  await useSentFolder(server, AbortSignal.timeout(COPY_TIMEOUT_MS), async (client, folder) => {
    // Gmail files copies.
    if (folder === undefined || client.capabilities.has('X-GM-EXT-1') || (await includesMail(client, folder, messageId))) return;
    await client.append(folder, source, ['\\Seen']);
  });
}

/** Opens a connection of its own: the one that waits for mail stays in its folder. */
async function useSentFolder<T>(
  server: MailServer,
  signal: AbortSignal,
  work: (client: ImapFlow, folder: string | undefined) => Promise<T>,
): Promise<T> {
  const client = await connectImap(server, signal);
  const stop = (): void => client.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const folders = await client.list();
    const sent = folders.find(({ specialUse }) => specialUse === '\\Sent');
    return await work(client, sent?.path);
  } catch (error) {
    signal.throwIfAborted();
    throw toImapError(error, server);
  } finally {
    signal.removeEventListener('abort', stop);
    client.close();
  }
}

async function includesMail(client: ImapFlow, folder: string, messageId: string): Promise<boolean> {
  await client.mailboxOpen(folder, { readOnly: true });
  const found = await client.search({ header: { 'message-id': messageId } }, { uid: true });
  if (!found) throw createServerError();
  return found.length > 0;
}
