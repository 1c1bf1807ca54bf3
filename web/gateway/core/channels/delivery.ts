import type { Part } from '#shared/rpc/records.ts';
import type { Clock } from '../clock.ts';
import type { Vault } from '../vault.ts';
import type { ChannelAdapter } from './adapter.ts';
import type { Inbox } from './inbox.ts';
import { PlatformError } from './platform.ts';
import type { PendingMessage } from './state.ts';

export interface DeliveryDeps {
  adapter: ChannelAdapter;
  inbox: Inbox;
  vault: Pick<Vault, 'messages'>;
  clock: Clock;
  /** Ends all waits; active runs continue. */
  signal: AbortSignal;
  /** Writes a line to the log. */
  note(message: string, fields: Record<string, unknown>): void;
}

type File = Exclude<Part, { type: 'text' }>;

/** Stands for the id of a piece that the platform may have received. */
const UNKNOWN = 'unknown';

const withAnswer = (
  message: PendingMessage,
  change: (answer: NonNullable<PendingMessage['answer']>) => NonNullable<PendingMessage['answer']>,
): PendingMessage => (message.answer ? { ...message, answer: change(message.answer) } : message);

export const filesOf = (content: string | readonly Part[]): File[] =>
  typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');

/** Sends the remaining pieces of an answer. A piece that may have been sent is looked up, and never sent again without that. */
export async function deliver(deps: DeliveryDeps, id: string): Promise<void> {
  const { inbox, adapter, clock, signal, note } = deps;
  const now = (): PendingMessage | undefined => inbox.pending(id);
  const noted = (sentId: string): Promise<void> =>
    inbox.update(id, (before) => withAnswer(before, ({ trying: _, ...answer }) => ({ ...answer, sent: [...answer.sent, sentId] })));
  try {
    for (let message = now(); message?.answer && message.answer.sent.length < message.answer.parts.length; message = now()) {
      const { parts, sent, trying } = message.answer;
      const part = parts[sent.length] ?? '';
      if (trying) {
        const found = adapter.findSent ? await adapter.findSent(message, part, { sent, signal }) : UNKNOWN;
        if (found === UNKNOWN) note('Part of a reply may not have arrived; it is not sent again', { message: id });
        if (found !== null) {
          await noted(found);
          continue;
        }
      } else await inbox.update(id, (before) => withAnswer(before, (answer) => ({ ...answer, trying: true })));
      try {
        await noted(await adapter.send(message, part, { sent, signal }));
      } catch (error) {
        if (error instanceof PlatformError && error.undone)
          await inbox.update(id, (before) => withAnswer(before, ({ trying: _, ...answer }) => answer));
        throw error;
      }
    }
    await sendFiles(deps, id);
    const message = now();
    if (!message) return;
    await inbox.settle(id, message.command ? null : message.answer?.isApology ? 'messages_failed' : 'messages_sent', clock.now());
  } catch (error) {
    if (!(error instanceof PlatformError) || !error.refused) throw error;
    note('The platform rejected a reply', { message: id, error: error.message });
    await inbox.settle(id, 'messages_failed', clock.now());
  }
}

async function sendFiles({ inbox, adapter, vault, signal, note }: DeliveryDeps, id: string): Promise<void> {
  const given = inbox.pending(id)?.answer?.files;
  if (!given || !adapter.sendFile) return;
  const reply = await vault.messages.get(given.messageId);
  const files = reply ? filesOf(reply.content) : [];
  for (let message = inbox.pending(id); message?.answer?.files; message = inbox.pending(id)) {
    const file = files[message.answer.files.sent];
    if (!file) return;
    // Counted before sending: a file that may have arrived is not sent again.
    await inbox.update(id, (before) =>
      withAnswer(before, (answer) => ({
        ...answer,
        ...(answer.files ? { files: { ...answer.files, sent: answer.files.sent + 1 } } : {}),
      })),
    );
    await adapter.sendFile(message, file, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError)) throw error;
      note('Could not send a file of a reply', { message: id, error: error.message });
    });
  }
}
