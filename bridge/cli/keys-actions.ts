import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { KEY_SCOPES, type KeyScope } from '#shared/rpc/scopes.ts';
import { CommandError } from './command-error.ts';
import { printNote, printLine, printJson, escapeToOneLine } from './terminal-output.ts';
import { type WithGatewayOptions, withGateway } from './with-gateway.ts';

type ApiKey = MethodResult<'keys.list'>['keys'][number];

/** Descriptions of the scopes. */
export const SCOPE_DESCRIPTIONS: Record<KeyScope, string> = {
  v1: 'Call models and agents through /v1',
  mcp: 'Connect as an MCP client (/mcp)',
  chat: 'Chat with agents and read their chats',
  sessions: 'List, search, change, export and delete chats',
  memory: 'Read and change memory and the wiki',
  files: 'Read and change agents’ files and drawings',
  collections: 'Search, change and read collections of documents',
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
export const listKeys = (options: WithGatewayOptions): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { keys, count } = await client.call('keys.list', {});
    if (options.json) return printJson({ keys, count });
    if (count === 0) return printLine('No API keys.');
    for (const key of keys) printLine(formatKey(key));
  });

/** `perch keys create <name>`: prints only the secret to standard output. */
export const createKey = (name: string, { scope, ...options }: WithGatewayOptions & { scope: readonly string[] }): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { key, secret } = await client.call('keys.create', { name, scopes: parseScopes(scope) });
    if (options.json) return printJson({ key, secret });
    printLine(secret);
    printNote(`Copy the key now. It won’t be shown again. Scopes: ${key.scopes.join(', ')}.`);
  });

/** `perch keys update <key>`: replaces the scopes. */
export const updateKey = (which: string, { scope, ...options }: WithGatewayOptions & { scope: readonly string[] }): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { id } = findKey((await client.call('keys.list', {})).keys, which);
    const { key } = await client.call('keys.update', { id, scopes: parseScopes(scope) });
    if (options.json) return printJson({ key });
    printLine(`${escapeToOneLine(key.name)} has the scopes ${key.scopes.join(', ')}.`);
  });

/** `perch keys revoke <key>`. */
export const revokeKey = (which: string, options: WithGatewayOptions): Promise<void> =>
  withGateway('perch keys', options, async (client) => {
    const { id, name } = findKey((await client.call('keys.list', {})).keys, which);
    await client.call('keys.revoke', { id });
    if (options.json) return printJson({ id, revoked: true });
    printLine(`Revoked ${escapeToOneLine(name)}.`);
  });

/** Throws `CommandError` for an unknown scope. */
function parseScopes(names: readonly string[]): KeyScope[] {
  return names.map((text) => {
    const scope = KEY_SCOPES.find((each) => each === text);
    if (!scope) throw new CommandError(`Unknown scope "${text}". Scopes: ${KEY_SCOPES.join(', ')}.`, 2);
    return scope;
  });
}

/** Finds a key by id, by the last characters of the secret, or by name. Throws `CommandError` if none or several match. */
function findKey(keys: readonly ApiKey[], which: string): ApiKey {
  const found = keys.filter(({ id, hint, name }) => [id, hint, name].includes(which));
  const [key] = found;
  if (!key) throw new CommandError(`No API key "${which}".`);
  if (found.length > 1) throw new CommandError(`Several API keys fit "${which}". Use an ID.`);
  return key;
}

function formatKey({ id, name, hint, scopes, lastUsedAt }: ApiKey): string {
  const used = lastUsedAt === null ? 'never used' : `last used ${new Date(lastUsedAt).toISOString()}`;
  return `${id}  ${escapeToOneLine(name)}  …${hint}  ${scopes.join(',')}  ${used}`;
}
