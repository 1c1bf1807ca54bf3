import { seenOr } from '#shared/seen.ts';
import { channelOrigins } from '../channels/settings.ts';
import type { Config } from '../config.ts';
import { mcpOrigins } from '../mcp/settings.ts';
import type { SecretReferences } from '../secrets/keep.ts';
import type { Settings } from '../settings.ts';
import type { LocalServer } from './discovery.ts';
import { baseUrlOf } from './kinds.ts';
import type { ProviderConfig } from './made-provider.ts';

/** Enabled providers of the configuration, with their keys. */
export function configuredProviders(config: Config, references: Pick<SecretReferences, 'wait'>): ProviderConfig[] {
  return Object.entries(config.settings.providers)
    .filter(([, provider]) => provider.enabled !== false)
    .map(([id, { name, kind, baseUrl }]) => ({
      id,
      name: seenOr(name, id),
      kind,
      baseUrl,
      ...keyAt(`providers.${id}.apiKey`, config, references),
    }));
}

/** The API key; if it is a reference without a value, a function that waits for the value. */
function keyAt(path: string, config: Config, references: Pick<SecretReferences, 'wait'>): Pick<ProviderConfig, 'apiKey' | 'reference'> {
  const apiKey = config.secret(path);
  const name = apiKey === undefined ? config.reference(path) : undefined;
  return name === undefined ? { apiKey } : { reference: { name, wait: () => references.wait(name) } };
}

/** Origins that the gateway may send requests to on its own: providers, local model servers, MCP servers, channels. */
export function originsOf({ providers, tools, channels }: Settings, localServers: readonly LocalServer[]): ReadonlySet<string> {
  const own = Object.values(providers).flatMap((part) => baseUrlOf(part) ?? []);
  return new Set([
    ...own.map((baseUrl) => new URL(baseUrl).origin),
    ...localServers.map(({ port }) => `http://127.0.0.1:${port}`),
    ...mcpOrigins(tools.mcpServers),
    ...channelOrigins(channels),
  ]);
}
