import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { KEY_SCOPES, type KeyScope } from '#shared/rpc/scopes.ts';
import { CommandError } from './errors.ts';
import { note, say, sayJson, shownLine } from './output.ts';
import { type GatewayOptions, withGateway } from './with-gateway.ts';

type Key = MethodResult<'keys.list'>['keys'][number];

/** Descriptions of the scopes. */
export const SCOPE_MEANINGS: Record<KeyScope, string> = {
  v1: 'Call models and agents through /v1',
  mcp: 'Connect as an MCP client (/mcp)',
  chat: 'Chat with agents and read their chats',
  sessions: 'List, search, change, export and delete chats',
  memory: 'Read and change memory and the wiki',
  files: 'Read and change agents’ files and drawings',
  instructions: 'Change skills and prompts (also needs files)',
  web: 'Load web pages and pictures',
  browser: 'Control the browser, including sites you are signed in to',
  computer: 'Ask to run commands and take screenshots on this computer',
  automation: 'Add and change schedules and plans',
  servers: 'Use the tools of your MCP servers',
  status: 'Read settings, models, usage and logs',
  read: 'Read everything, but change nothing',
  write: 'All of the above',
};

/** `perch keys list`. */
export const listKeys = (options: GatewayOptions): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { keys, count } = await client.call('keys.list', {});
    if (options.json) return sayJson({ keys, count });
    if (count === 0) return say('No API keys.');
    for (const key of keys) say(keyLine(key));
  });

/** `perch keys create <name>`: prints only the secret to standard output. */
export const createKey = (name: string, { scope, ...options }: GatewayOptions & { scope: readonly string[] }): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { key, secret } = await client.call('keys.create', { name, scopes: toScopes(scope) });
    if (options.json) return sayJson({ key, secret });
    say(secret);
    note(`Copy the key now. It won’t be shown again. Scopes: ${key.scopes.join(', ')}.`);
  });

/** `perch keys update <key>`: replaces the scopes. */
export const updateKey = (which: string, { scope, ...options }: GatewayOptions & { scope: readonly string[] }): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { id } = findKey((await client.call('keys.list', {})).keys, which);
    const { key } = await client.call('keys.update', { id, scopes: toScopes(scope) });
    if (options.json) return sayJson({ key });
    say(`${shownLine(key.name)} has the scopes ${key.scopes.join(', ')}.`);
  });

/** `perch keys revoke <key>`. */
export const revokeKey = (which: string, options: GatewayOptions): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { id, name } = findKey((await client.call('keys.list', {})).keys, which);
    await client.call('keys.revoke', { id });
    if (options.json) return sayJson({ id, revoked: true });
    say(`Revoked ${shownLine(name)}.`);
  });

/** Throws `CommandError` for an unknown scope. */
function toScopes(given: readonly string[]): KeyScope[] {
  return given.map((text) => {
    const scope = KEY_SCOPES.find((each) => each === text);
    if (!scope) throw new CommandError(`Unknown scope "${text}". Scopes: ${KEY_SCOPES.join(', ')}.`, 2);
    return scope;
  });
}

/** Finds a key by id, by the last characters of the secret, or by name. Throws `CommandError` if none or several match. */
function findKey(keys: readonly Key[], which: string): Key {
  const found = keys.filter(({ id, hint, name }) => [id, hint, name].includes(which));
  const [key] = found;
  if (!key) throw new CommandError(`No API key "${which}".`);
  if (found.length > 1) throw new CommandError(`Several API keys fit "${which}". Use an ID.`);
  return key;
}

function keyLine({ id, name, hint, scopes, lastUsedAt }: Key): string {
  const used = lastUsedAt === null ? 'never used' : `last used ${new Date(lastUsedAt).toISOString()}`;
  return `${id}  ${shownLine(name)}  …${hint}  ${scopes.join(',')}  ${used}`;
}
