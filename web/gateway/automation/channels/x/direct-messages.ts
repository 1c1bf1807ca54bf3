import { z } from '#shared/rpc/zod.ts';
import type { IncomingMessage } from '../../../storage/records/channel-state.ts';
import { id } from './x-api.ts';
import { type XFetchContext, getLaterId } from './mentions.ts';

const MAX_PAGES = 5;

const page = z.object({
  data: z
    .array(
      z.object({
        id,
        event_type: z.string().optional(),
        text: z.string().optional(),
        sender_id: id.optional(),
        created_at: z.string().optional(),
      }),
    )
    .optional(),
  includes: z.object({ users: z.array(z.object({ id, username: z.string() })).optional() }).optional(),
  meta: z.object({ next_token: z.string().max(1000).optional(), result_count: z.number().int().optional() }).optional(),
});

/**
 * Direct messages after the cursor, oldest first (https://docs.x.com/x-api/direct-messages/get-dm-events); the API has no `since_id` for
 * them. None on the first call.
 */
export async function fetchDirectMessages(
  { api, token, self, signal, now }: XFetchContext,
  cursor: string | undefined,
): Promise<{ messages: IncomingMessage[]; cursor: string }> {
  const found: IncomingMessage[] = [];
  let newest = cursor ?? '';
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const {
      data = [],
      includes,
      meta,
    } = await api.get(
      '/2/dm_events',
      {
        event_types: 'MessageCreate',
        max_results: '100',
        'dm_event.fields': 'id,text,event_type,sender_id,created_at',
        expansions: 'sender_id',
        'user.fields': 'username',
        ...(next === undefined ? {} : { pagination_token: next }),
      },
      page,
      { token, signal },
    );
    const names = new Map((includes?.users ?? []).map((user) => [user.id, user.username]));
    const isOld = (eventId: string): boolean => cursor !== undefined && cursor !== '' && BigInt(eventId) <= BigInt(cursor);
    for (const event of data) {
      newest = getLaterId(newest, event.id);
      const { sender_id, text } = event;
      if (isOld(event.id) || sender_id === undefined || text === undefined || sender_id === self.id) continue;
      const createdAt = Date.parse(event.created_at ?? '');
      const name = names.get(sender_id) ?? '';
      found.push({
        id: `dm:${event.id}`,
        conversation: `dm-${sender_id}`,
        user: { id: sender_id, name },
        text,
        isPublic: false,
        to: sender_id,
        title: `X direct message: @${name || sender_id}`,
        at: Number.isFinite(createdAt) ? Math.min(createdAt, now) : now,
      });
    }
    if (cursor === undefined) return { messages: [], cursor: newest };
    if (meta?.next_token === undefined || meta.next_token === next || data.some((event) => isOld(event.id))) break;
    next = meta.next_token;
  }
  return { messages: found.reverse(), cursor: newest };
}
