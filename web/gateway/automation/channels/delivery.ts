import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { ChannelAdapter, FilePart } from './channel-adapter.ts';
import type { ChannelMedia } from './media/channel-media.ts';
import type { Inbox } from './inbox.ts';
import { PlatformError } from './platform-request.ts';
import type { PendingMessage } from '../../storage/records/channel-state.ts';

export interface DeliveryDeps {
  adapter: ChannelAdapter;
  inbox: Inbox;
  vault: Pick<Vault, 'messages'>;
  media: Pick<ChannelMedia, 'speak'>;
  clock: Clock;
  /** Ends all waits; active runs continue. */
  signal: AbortSignal;
  /** Writes a line to the log. */
  warn(message: string, fields: Record<string, unknown>): void;
}

/** Stands for the id of a piece that the platform may have received. */
const UNKNOWN_ID = 'unknown';

const updateAnswer = (
  message: PendingMessage,
  change: (answer: NonNullable<PendingMessage['answer']>) => NonNullable<PendingMessage['answer']>,
): PendingMessage => (message.answer ? { ...message, answer: change(message.answer) } : message);

export const getFiles = (content: string | readonly MessagePart[]): FilePart[] =>
  typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');

/** Sends the remaining pieces of an answer. A piece that may have been sent is looked up, and never sent again without that. */
export async function deliverAnswer(deps: DeliveryDeps, id: string): Promise<void> {
  const { inbox, adapter, clock, signal, warn } = deps;
  const current = (): PendingMessage | undefined => inbox.pending(id);
  const recordSent = (sentId: string): Promise<void> =>
    inbox.update(id, (before) => updateAnswer(before, ({ trying: _, ...answer }) => ({ ...answer, sent: [...answer.sent, sentId] })));
  try {
    for (let message = current(); message?.answer && message.answer.sent.length < message.answer.parts.length; message = current()) {
      const { parts, sent, trying } = message.answer;
      const part = parts[sent.length] ?? '';
      if (trying) {
        const answer = await adapter.findSent?.(message, part, { sent, signal });
        const found = answer === undefined ? UNKNOWN_ID : answer;
        if (found === UNKNOWN_ID) warn('Part of a reply may not have arrived; it is not sent again', { message: id });
        if (found !== null) {
          await recordSent(found);
          continue;
        }
      } else await inbox.update(id, (before) => updateAnswer(before, (answer) => ({ ...answer, trying: true })));
      try {
        await recordSent(await adapter.send(message, part, { sent, signal }));
      } catch (error) {
        if (error instanceof PlatformError && error.isUnsent)
          await inbox.update(id, (before) => updateAnswer(before, ({ trying: _, ...answer }) => answer));
        throw error;
      }
    }
    await sendFiles(deps, id);
    await sendSpeech(deps, id);
    const message = current();
    if (!message) return;
    await inbox.remove(id, message.command ? null : message.answer?.isApology ? 'messages_failed' : 'messages_sent', clock.now());
  } catch (error) {
    if (!(error instanceof PlatformError) || !error.refused) throw error;
    warn('The platform rejected a reply', { message: id, error: error.message });
    await inbox.remove(id, 'messages_failed', clock.now());
  }
}

/** Sends an answer as speech too, at most once: the text has been sent already. */
async function sendSpeech({ inbox, adapter, media, signal, warn }: DeliveryDeps, id: string): Promise<void> {
  const spoken = inbox.pending(id)?.answer?.spoken;
  if (spoken === undefined || !adapter.sendVoice) return;
  await inbox.update(id, (before) => updateAnswer(before, ({ spoken: _, ...answer }) => answer));
  const message = inbox.pending(id);
  if (!message) return;
  try {
    await adapter.sendVoice(message, await media.speak(spoken, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    warn('Could not send a reply as speech', { message: id, error: error instanceof Error ? error.message : String(error) });
  }
}

async function sendFiles({ inbox, adapter, vault, signal, warn }: DeliveryDeps, id: string): Promise<void> {
  const pendingFiles = inbox.pending(id)?.answer?.files;
  if (!pendingFiles || !adapter.sendFile) return;
  const reply = await vault.messages.get(pendingFiles.messageId);
  const files = reply ? getFiles(reply.content) : [];
  for (let message = inbox.pending(id); message?.answer?.files; message = inbox.pending(id)) {
    const file = files[message.answer.files.sent];
    if (!file) return;
    // Counted before sending: a file that may have arrived is not sent again.
    await inbox.update(id, (before) =>
      updateAnswer(before, (answer) => ({
        ...answer,
        ...(answer.files ? { files: { ...answer.files, sent: answer.files.sent + 1 } } : {}),
      })),
    );
    await adapter.sendFile(message, file, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError)) throw error;
      warn('Could not send a file of a reply', { message: id, error: error.message });
    });
  }
}
