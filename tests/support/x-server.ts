import type { Clock } from '../../shared/async/clock.ts';
import { type PlatformRequest, startPlatformServer } from './platform-server.ts';

export const APP_BEARER = 'AAAAbearer-of-the-app';
const OWN_USER = { id: '1000', username: 'perch', name: 'Perch' };
const USERS: Record<string, string> = { '2001': 'ada', '2002': 'bob', '1000': 'perch' };
const OAUTH_CLIENT = 'client-id';

interface XPost {
  id: string;
  text: string;
  author_id: string;
  created_at: string;
  /** Id of the post that it replies to. */
  to?: string;
}

interface XDirectMessage {
  id: string;
  text: string;
  sender_id: string;
  with: string;
  event_type: 'MessageCreate';
  created_at: string;
}

/**
 * A server on this machine that answers as X's API v2 does (https://docs.x.com/x-api), OAuth 2.0 with PKCE and rotation included. `controls.postsByApp`: it takes posts
 * with the app's token too; `controls.tokensAfter`: it gives no token before that.
 */
export async function startXServer(clock: Pick<Clock, 'now'>, { pageSize = 100 } = {}) {
  const posts: XPost[] = [];
  const direct: XDirectMessage[] = [];
  const grants = { code: '', challenge: '', access: '', refresh: '', count: 0, used: [] as string[] };
  const controls: { postsByApp: boolean; tokensAfter: Promise<void> | undefined } = { postsByApp: true, tokensAfter: undefined };
  let lastId = 5_000_000_000_000_000_000n;
  const nextId = (): string => `${++lastId}`;
  const now = (): string => new Date(clock.now()).toISOString();
  const problem = (status: number, title: string, detail: string) => ({ status, json: { title, detail, status, type: 'about:blank' } });
  const newest = <T extends { id: string }>(list: T[]): T[] => [...list].sort((a, b) => (BigInt(b.id) > BigInt(a.id) ? 1 : -1));

  const allow = (params: URLSearchParams): string => {
    Object.assign(grants, { code: `code-${nextId()}`, challenge: params.get('code_challenge') ?? '' });
    return grants.code;
  };

  const tokens = async ({ body, headers }: PlatformRequest) => {
    await controls.tokensAfter;
    const form = new URLSearchParams(body.toString());
    const refuse = (description: string) => ({ status: 400, json: { error: 'invalid_grant', error_description: description } });
    if (form.get('client_id') !== OAUTH_CLIENT && !headers.authorization?.startsWith('Basic '))
      return { status: 401, json: { error: 'invalid_client' } };
    if (form.get('grant_type') === 'authorization_code') {
      const verifier = new TextEncoder().encode(form.get('code_verifier') ?? '');
      const hash = Buffer.from(await crypto.subtle.digest('SHA-256', verifier)).toString('base64url');
      if (grants.code === '' || form.get('code') !== grants.code || hash !== grants.challenge) return refuse('the code does not fit');
      grants.code = '';
    } else {
      const refreshToken = form.get('refresh_token') ?? '';
      grants.used.push(refreshToken);
      if (refreshToken !== grants.refresh) return refuse('the refresh token was used');
    }
    grants.count++;
    [grants.access, grants.refresh] = [`access-${grants.count}-of-the-account`, `refresh-${grants.count}-of-the-account`];
    return {
      json: { token_type: 'bearer', expires_in: 7200, access_token: grants.access, refresh_token: grants.refresh, scope: 'dm.read' },
    };
  };

  const server = await startPlatformServer((platformRequest) => {
    const { path, query, headers, method, body } = platformRequest;
    if (path === '/2/oauth2/token') return tokens(platformRequest);
    // Consent page, at which the account's owner agrees immediately.
    if (path === '/i/oauth2/authorize') {
      const back = new URL(query.get('redirect_uri') ?? '');
      const code = allow(query);
      back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
      return { status: 302, json: {}, headers: { location: back.href } };
    }
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    const isUser = grants.access !== '' && token === grants.access;
    if (!isUser && token !== APP_BEARER) return problem(401, 'Unauthorized', `Unauthorized: ${token}`);
    const appOnly = problem(
      403,
      'Unsupported Authentication',
      'Authenticating with OAuth 2.0 Application-Only is forbidden for this endpoint.  Supported authentication types are [OAuth 1.0a User Context, OAuth 2.0 User Context].',
    );
    const users = Object.entries(USERS).map(([id, username]) => ({ id, username, name: username }));
    if (method === 'POST' && path === '/2/tweets') {
      if (!isUser && !controls.postsByApp) return appOnly;
      const requestBody = JSON.parse(body.toString()) as { text: string; reply?: { in_reply_to_tweet_id: string } };
      const to = requestBody.reply?.in_reply_to_tweet_id;
      if (posts.some(({ author_id, text }) => author_id === OWN_USER.id && text === requestBody.text))
        return problem(403, 'Forbidden', 'You are not allowed to create a Tweet with duplicate content.');
      const post = { id: nextId(), text: requestBody.text, author_id: OWN_USER.id, created_at: now(), ...(to === undefined ? {} : { to }) };
      posts.push(post);
      return { status: 201, json: { data: { id: post.id, text: post.text } } };
    }
    const [, dmTo] = /^\/2\/dm_conversations\/with\/(\d+)\/(?:messages|dm_events)$/.exec(path) ?? [];
    if (dmTo !== undefined || path === '/2/dm_events') {
      if (!isUser) return appOnly;
      if (method === 'POST') {
        const { text } = JSON.parse(body.toString()) as { text: string };
        const event = {
          id: nextId(),
          text,
          sender_id: OWN_USER.id,
          with: dmTo ?? '',
          event_type: 'MessageCreate' as const,
          created_at: now(),
        };
        direct.push(event);
        return { status: 201, json: { data: { dm_conversation_id: `${dmTo}-${OWN_USER.id}`, dm_event_id: event.id } } };
      }
      const data = newest(direct.filter((event) => dmTo === undefined || event.with === dmTo)).slice(0, pageSize);
      return { json: { ...(data.length > 0 ? { data, includes: { users } } : {}), meta: { result_count: data.length } } };
    }
    if (path === '/2/users/me') return isUser ? { json: { data: OWN_USER } } : appOnly;
    const [, name] = /^\/2\/users\/by\/username\/(\w+)$/.exec(path) ?? [];
    if (name !== undefined) {
      if (name === OWN_USER.username) return { json: { data: OWN_USER } };
      const detail = `Could not find user with username: [${name}].`;
      return { json: { errors: [{ title: 'Not Found Error', detail, resource_type: 'user' }] } };
    }
    const since = BigInt(query.get('since_id') ?? 0);
    if (path === `/2/users/${OWN_USER.id}/mentions`) {
      const found = newest(posts.filter(({ id, text }) => text.includes('@perch') && BigInt(id) > since));
      const from = Number(query.get('pagination_token') ?? 0);
      const size = Math.min(pageSize, Number(query.get('max_results')));
      const data = found.slice(from, from + size).map(({ to: _, ...post }) => post);
      const nextPage = from + size < found.length ? { next_token: `${from + size}` } : {};
      const ids = data.length > 0 ? { newest_id: data[0]?.id, oldest_id: data.at(-1)?.id } : {};
      return {
        json: { ...(data.length > 0 ? { data, includes: { users } } : {}), meta: { result_count: data.length, ...ids, ...nextPage } },
      };
    }
    if (path === `/2/users/${OWN_USER.id}/tweets`) {
      const data = newest(posts.filter(({ id, author_id }) => author_id === OWN_USER.id && BigInt(id) > since));
      const visiblePosts = data.map(({ to, ...post }) => ({
        ...post,
        ...(to === undefined ? {} : { referenced_tweets: [{ type: 'replied_to', id: to }] }),
      }));
      return { json: { ...(visiblePosts.length > 0 ? { data: visiblePosts } : {}), meta: { result_count: visiblePosts.length } } };
    }
    return problem(404, 'Not Found', path);
  });
  return Object.assign(server, {
    here: controls,
    posts,
    direct,
    grants,
    /** The account's replies, in order. */
    own: (): XPost[] => posts.filter(({ author_id, to }) => author_id === OWN_USER.id && to !== undefined),
    addMention(text: string, author_id = '2001'): string {
      const post = { id: nextId(), text: `@perch ${text}`, author_id, created_at: now() };
      posts.push(post);
      return post.id;
    },
    addDirectMessage(text: string, sender_id = '2001'): string {
      const event = { id: nextId(), text, sender_id, with: sender_id, event_type: 'MessageCreate' as const, created_at: now() };
      direct.push(event);
      return event.id;
    },
    ownDirect: (): XDirectMessage[] => direct.filter(({ sender_id }) => sender_id === OWN_USER.id),
    looks: (): number => server.asked.filter(isMentionsRequest).length,
    /** Grants the requested access as the account's owner. Returns the code of the redirect. */
    allow: (address: string): string => allow(new URL(address).searchParams),
  });
}

export const isMentionsRequest = ({ path }: PlatformRequest): boolean => path.endsWith('/mentions');
