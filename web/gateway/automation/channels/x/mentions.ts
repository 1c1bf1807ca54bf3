import { z } from '#shared/rpc/zod.ts';
import { PlatformError } from '../platform-request.ts';
import type { IncomingMessage } from '../../../storage/records/channel-state.ts';
import { id, type XApi } from './x-api.ts';

/** Maximum number of pages: X serves no older mentions. */
const MAX_PAGES = 8;

const page = z.object({
  data: z.array(z.object({ id, text: z.string(), author_id: id, created_at: z.string().optional() })).optional(),
  includes: z.object({ users: z.array(z.object({ id, username: z.string() })).optional() }).optional(),
  meta: z.object({ newest_id: id.optional(), next_token: z.string().max(1000).optional(), result_count: z.number().int() }),
});

export interface XAccount {
  id: string;
  username: string;
}

export interface XFetchContext {
  api: XApi;
  token: string;
  self: XAccount;
  signal: AbortSignal;
  now: number;
}

/** The later of two ids. */
export const getLaterId = (a: string, b: string): string => (BigInt(a || 0) >= BigInt(b || 0) ? a : b);

/**
 * Mentions after the cursor, oldest first (https://docs.x.com/x-api/posts/user-mention-timeline-by-user-id). None on the first call,
 * without a cursor: mentions from before the channel was enabled are not answered. `spend` is called before each request.
 */
export async function fetchMentions(
  { api, token, self, signal, now }: XFetchContext,
  cursor: string | undefined,
  spend: () => Promise<void>,
): Promise<{ messages: IncomingMessage[]; cursor: string }> {
  const found: IncomingMessage[] = [];
  let newest = cursor ?? '';
  let next: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    await spend();
    const {
      data = [],
      includes,
      meta,
    } = await api.get(
      `/2/users/${self.id}/mentions`,
      {
        max_results: cursor === undefined ? '5' : '100',
        expansions: 'author_id',
        'tweet.fields': 'author_id,created_at',
        'user.fields': 'username',
        ...(cursor ? { since_id: cursor } : {}),
        ...(next === undefined ? {} : { pagination_token: next }),
      },
      page,
      { token, signal },
    );
    for (const post of data) newest = getLaterId(newest, post.id);
    if (meta.newest_id !== undefined) newest = getLaterId(newest, meta.newest_id);
    if (cursor === undefined) return { messages: [], cursor: newest };
    const names = new Map((includes?.users ?? []).map((user) => [user.id, user.username]));
    for (const post of data) {
      // The account's own answers contain mentions; it must not talk to itself.
      if (post.author_id === self.id || (cursor !== '' && BigInt(post.id) <= BigInt(cursor))) continue;
      found.push(toIncomingMessage(post, names.get(post.author_id) ?? '', self, now));
    }
    if (meta.next_token === undefined) break;
    if (meta.next_token === next) throw new PlatformError('X keeps sending the same page.');
    next = meta.next_token;
  }
  return { messages: found.reverse(), cursor: newest };
}

function toIncomingMessage(
  { id: postId, text, author_id, created_at }: { id: string; text: string; author_id: string; created_at?: string | undefined },
  username: string,
  self: XAccount,
  now: number,
): IncomingMessage {
  const createdAt = Date.parse(created_at ?? '');
  return {
    id: `post:${postId}`,
    conversation: author_id,
    user: { id: author_id, name: username },
    text: toPlainText(text, self.username),
    isPublic: true,
    to: postId,
    title: `X: @${username || author_id}`,
    at: Number.isFinite(createdAt) ? Math.min(createdAt, now) : now,
  };
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** A post's text as a person reads it: without escapes, and without the mentions at the start of a reply. */
function toPlainText(text: string, own: string): string {
  const unescaped = text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity);
  const stripped = unescaped
    .replace(/^(?:@\w+\s+)+/, (names) => (names.toLowerCase().includes(`@${own.toLowerCase()}`) ? '' : names))
    .trim();
  return stripped === '' ? unescaped : stripped;
}
