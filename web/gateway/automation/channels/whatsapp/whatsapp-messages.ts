import { z } from '#shared/rpc/zod.ts';
import type { IncomingFile, IncomingMessage } from '../../../storage/records/channel-state.ts';
import type { ButtonPress, SentReceipt } from '../channel-adapter.ts';
import { parseChatCommand } from '../chat-commands.ts';
import { WINDOW_CLOSED, WINDOW_CLOSED_CODE } from './whatsapp-api.ts';

/** Id of a person: the phone number in digits, or another id of the platform. */
export const userId = z.string().regex(/^[\w.-]{1,64}$/);

const media = z.object({
  id: z.string(),
  mime_type: z.string().catch('application/octet-stream'),
  caption: z.string().optional(),
  filename: z.string().optional(),
  voice: z.boolean().optional(),
});
const optionalMedia = media.optional().catch(undefined);

const message = z.object({
  id: z.string().min(1),
  from: userId,
  timestamp: z.coerce.number(),
  type: z.string(),
  text: z.object({ body: z.string() }).optional().catch(undefined),
  ...{ image: optionalMedia, audio: optionalMedia, video: optionalMedia, document: optionalMedia, sticker: optionalMedia },
  interactive: z
    .object({ button_reply: z.object({ id: z.string() }) })
    .optional()
    .catch(undefined),
  context: z
    .object({ id: z.string().optional(), forwarded: z.boolean().optional(), frequently_forwarded: z.boolean().optional() })
    .optional()
    .catch(undefined),
});
type WhatsAppMessage = z.infer<typeof message>;

const status = z.object({
  id: z.string(),
  status: z.string(),
  timestamp: z.coerce.number().catch(0),
  biz_opaque_callback_data: z.string().optional(),
  errors: z
    .array(z.object({ code: z.number(), title: z.string().catch('') }))
    .optional()
    .catch(undefined),
});

const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item.nullable().catch(null))
    .catch([])
    .transform((items) => items.filter((each) => each !== null));

const notification = z.object({
  entry: list(
    z.object({
      changes: list(
        z.object({
          field: z.literal('messages'),
          value: z.object({
            metadata: z.object({ phone_number_id: z.string() }),
            contacts: list(z.object({ wa_id: z.string(), profile: z.object({ name: z.string().catch('') }).catch({ name: '' }) })),
            messages: list(message),
            statuses: list(status),
          }),
        }),
      ),
    }),
  ),
});

/** News of a call of the webhook. */
export interface WhatsAppNews {
  messages: IncomingMessage[];
  presses: ButtonPress[];
  receipts: SentReceipt[];
  /** Ids of sent messages by the ids of their pieces. */
  pieces: Map<string, string>;
}

/** Reads a call of the webhook about a phone number; undefined if it is none. */
export function parseNotification(payload: unknown, phoneNumberId: string, now: number): WhatsAppNews | undefined {
  const { data } = notification.safeParse(payload);
  if (!data) return undefined;
  const news: WhatsAppNews = { messages: [], presses: [], receipts: [], pieces: new Map() };
  for (const { value } of data.entry.flatMap(({ changes }) => changes)) {
    if (value.metadata.phone_number_id !== phoneNumberId) continue;
    const names = new Map(value.contacts.map(({ wa_id, profile }) => [wa_id, profile.name]));
    for (const each of value.messages) {
      const press = toButtonPress(each);
      if (press) news.presses.push(press);
      const incoming = press ? undefined : toIncomingMessage(each, names.get(each.from) ?? '', now);
      if (incoming) news.messages.push(incoming);
    }
    for (const { id, status: state, timestamp, errors, biz_opaque_callback_data: piece } of value.statuses) {
      if (piece !== undefined) news.pieces.set(piece, id);
      if (state !== 'delivered' && state !== 'read' && state !== 'failed') continue;
      const [error] = errors ?? [];
      const reason = error?.code === WINDOW_CLOSED_CODE ? WINDOW_CLOSED : error?.title;
      news.receipts.push({
        sentId: id,
        state,
        at: timestamp * 1000 || now,
        ...(state === 'failed' ? { error: reason ?? 'WhatsApp could not deliver it.' } : {}),
      });
    }
  }
  return news;
}

function toIncomingMessage(source: WhatsAppMessage, profileName: string, now: number): IncomingMessage | undefined {
  const { id, from, timestamp, text, image, audio, video, document, sticker, context } = source;
  const file = image ?? audio ?? video ?? document ?? sticker;
  const words = (text?.body ?? file?.caption ?? '').trim();
  if (words === '' && !file) return undefined;
  const command = parseChatCommand(words);
  const files: IncomingFile[] = file
    ? [
        {
          id: file.id,
          kind: image || sticker ? 'image' : audio ? 'audio' : 'document',
          name: file.filename ?? (image || sticker ? 'picture' : audio ? 'recording' : 'file'),
          mimeType: file.mime_type.split(';')[0] ?? '',
        },
      ]
    : [];
  return {
    id: `message:${id}`,
    conversation: from.replaceAll('.', '-'),
    // Anybody can choose another one's name: the number belongs to it.
    user: { id: from, name: profileName === '' ? from : `${profileName.slice(0, 100)} (${from})` },
    ...{ text: words, isPublic: false, to: from, title: `WhatsApp: ${profileName.slice(0, 100) || from}` },
    ...{ at: Math.min(timestamp * 1000 || now, now), platformId: id },
    ...(files.length > 0 ? { files } : {}),
    ...(audio?.voice ? { isVoice: true } : {}),
    ...(context?.forwarded || context?.frequently_forwarded ? { isForwarded: true } : {}),
    ...(command === undefined ? {} : { command }),
  };
}

/** A press of a button, which WhatsApp reports as a reply. */
function toButtonPress({ id, from, interactive, context }: WhatsAppMessage): ButtonPress | undefined {
  const value = interactive?.button_reply.id;
  if (value === undefined) return undefined;
  return { id, user: { id: from, name: from }, conversation: from, isPrivate: true, value, postId: context?.id ?? '' };
}
