import { toVisibleName } from '#shared/display-name.ts';
import { getChannelOrigins } from '../config/sections/channel-settings.ts';
import type { Config } from '../config/gateway-config.ts';
import { getMcpOrigins } from '../config/sections/mcp-settings.ts';
import { getSearchOrigins } from '../config/sections/web-search-settings.ts';
import type { SecretReferences } from '../config/secrets/secret-references.ts';
import type { Settings } from '../config/settings-schema.ts';
import type { LocalServer } from './server-discovery.ts';
import { getBaseUrl } from '../config/sections/provider-kinds.ts';
import type { ProviderConfig } from './provider-factory.ts';

/** Enabled providers of the configuration, with their keys. */
export function getConfiguredProviders(config: Config, references: Pick<SecretReferences, 'waitForValue'>): ProviderConfig[] {
  return Object.entries(config.settings.providers)
    .filter(([, provider]) => provider.enabled !== false)
    .map(([id, { name, kind, baseUrl }]) => ({
      id,
      name: toVisibleName(name, id),
      kind,
      baseUrl,
      ...readKey(`providers.${id}.apiKey`, config, references),
    }));
}

/** The secret at a path; if it is a reference without a value, a function that waits for the value. */
export function readKey(
  path: string,
  config: Config,
  references: Pick<SecretReferences, 'waitForValue'>,
): Pick<ProviderConfig, 'apiKey' | 'reference'> {
  const apiKey = config.getSecret(path);
  const name = apiKey === undefined ? config.getReference(path) : undefined;
  return name === undefined ? { apiKey } : { reference: { name, wait: () => references.waitForValue(name) } };
}

/** Origins that the gateway may send requests to on its own: providers, local model servers, MCP servers, channels, web search. */
export function getAllowedOrigins({ providers, tools, channels }: Settings, localServers: readonly LocalServer[]): ReadonlySet<string> {
  const providerUrls = Object.values(providers).flatMap((part) => getBaseUrl(part) ?? []);
  return new Set([
    ...providerUrls.map((baseUrl) => new URL(baseUrl).origin),
    ...localServers.map(({ port }) => `http://127.0.0.1:${port}`),
    ...getMcpOrigins(tools.mcpServers),
    ...getSearchOrigins(tools.webSearch),
    ...getChannelOrigins(channels),
  ]);
}
