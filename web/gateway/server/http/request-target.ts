import { RpcError } from '#shared/rpc/rpc-error.ts';
import { id as sessionIdShape } from '#shared/rpc/frames.ts';
import type { ToolSpec } from '../../providers/provider.ts';
import type { Route } from '../../providers/providers.ts';
import type { HttpDeps } from './http-deps.ts';
import { badRequest, modelNotFound } from './http-error.ts';
import type { IgnoredFields } from './ignored-fields.ts';

const AGENT_PREFIX = 'perch/';

/** The agent that a model's name refers to; undefined if there is none. Throws 404 for an unknown `perch/` name. */
export function findAgentId(model: string, { agents }: HttpDeps): string | undefined {
  const agentName = model.startsWith(AGENT_PREFIX) ? model.slice(AGENT_PREFIX.length) : undefined;
  const id = agentName ?? model;
  if (agents.list().some((agent) => agent.id === id)) return id;
  if (agentName !== undefined)
    throw modelNotFound(`The agent "${agentName}" does not exist. Use GET /v1/models to list the available agents.`);
  return undefined;
}

/** The provider that a model's name refers to. Throws 404 if there is none. */
export async function resolveRoute(model: string, signal: AbortSignal, { providers }: HttpDeps): Promise<Route> {
  try {
    return await providers.resolve(model, undefined, signal);
  } catch (error) {
    throw error instanceof RpcError && error.code === 'NOT_FOUND'
      ? modelNotFound(`The model "${model}" does not exist. Use GET /v1/models to list the available models.`)
      : error;
  }
}

/** Session named by the header, for an agent's run. */
export function readSessionHeader(request: Request): string | undefined {
  const header = request.headers.get('x-perch-session');
  if (header === null) return undefined;
  if (!sessionIdShape.safeParse(header).success) throw badRequest('`x-perch-session` must match [A-Za-z0-9_-]{1,128}.', 'x-perch-session');
  return header;
}

/** `user` is free text in this format: if it is not a valid session id, it is converted to one from its readable part and a hash. */
export function toSessionId(user: string): string {
  if (sessionIdShape.safeParse(user).success) return user;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(user)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return `${user.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 100)}-${hash.toString(16).padStart(8, '0')}`;
}

/** Session for a key that has separate sessions. */
export const toKeySessionId = (principal: string, sessionId: string): string =>
  toSessionId(`${principal.replace(':', '-').slice(0, 'key-'.length + 8)}-${sessionId}`);

/** Session of an agent's run. A run that may end in calls for the client's tools has none: each request contains the whole conversation. */
export function resolveAgentSession(
  { header, user, tools }: { header: string | undefined; user: string | undefined; tools: readonly ToolSpec[] },
  ignored: IgnoredFields,
): string | undefined {
  if (tools.length === 0) return header ?? (user === undefined ? undefined : toSessionId(user));
  if (header !== undefined) throw badRequest('`tools` is not supported in a session. Leave out `x-perch-session`.', 'tools');
  if (user !== undefined) ignored.add('user');
  return undefined;
}
